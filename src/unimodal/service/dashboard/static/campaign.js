import { byId, compact, count, duration, get, h, isAdmin, label, live, moment, number, percent, send } from "./common.js";
import * as arms from "./arms.js";
import { ask } from "./ask.js";
import { LeaderChart, RewardChart } from "./charts.js";
import { meter } from "./meter.js";

const name = document.body.dataset.campaign;
const api = `/v1/campaigns/${encodeURIComponent(name)}`;
const known = {}; // sections, as they were last told
let axis = "until";
let refreshNow = () => {};

const charts = {
  reward: new RewardChart(byId("reward-chart"), byId("reward-note")),
  leader: new LeaderChart(byId("leader-chart"), byId("leader-note")),
};

function tile(term, value, under, extra = "") {
  return h("div", { class: `tile ${extra}` }, h("dt", {}, term), h("dd", {}, value, under ? h("span", { class: "under" }, under) : null));
}

function showFigures() {
  const data = known.figures;
  const found = known.certificate?.found;
  const alarms = known.certificate?.alarms;
  if (!data) return;
  const level = found ? found.level : null;
  const isCertified = Boolean(found?.certified && found.is_leader);
  const other = found?.certified && !found.is_leader ? `${found.arm} is certified as the peak` : "not certified yet";
  const certainty = h("span", { class: "certainty" }, found === undefined || found === null ? "–" : percent(level), meter(level, isCertified));
  const tiles = [
    tile("Leader", data.leader === null ? "–" : label(data.leader, 22), isCertified ? "certified as the peak" : other, isCertified ? "good" : ""),
    tile("Certainty", certainty, found ? `asked for: ${percent(found.asked)}${found.past ? ", by new rewards only" : ""}` : "being looked for"),
    tile("Decisions today", count(data.today), `${compact(data.per_hour)} per hour · ${compact(data.decisions)} in all`),
    tile("Reward rate", number(data.rate), `per decision · ${number(data.reward_per_hour, 3)} per hour`),
    tile("Outstanding", count(data.outstanding), data.expired ? `${count(data.expired)} expired` : `${compact(data.rewards)} rewards came`),
    tile("Alarms", alarms === null || alarms === undefined ? "…" : count(alarms.length), alarms?.length ? "see above" : "nothing shows", alarms?.length ? "bad" : ""),
  ];
  byId("figures").replaceChildren(...tiles);
  const about = [data.policy, data.family, data.arms === undefined ? null : `${count(data.arms)} arms${data.looked_up ? " met" : ""}`];
  if (data.cap) about.push(`cap ${data.cap}`);
  if (data.time_to_live) about.push(`decisions live ${duration(data.time_to_live)}`);
  if (data.began !== null) about.push(`since ${moment(data.began)}`);
  byId("about").textContent = about.filter(Boolean).join(" · ");
  byId("ended").hidden = !data.ended;
  const isUnread = Boolean(data.problem) && data.events === 0; // there is a sentence, and nothing else
  byId("figures").hidden = isUnread;
  byId("sections").hidden = isUnread;
  if (isAdmin) {
    byId("end").textContent = data.ended ? "Let it decide again …" : "End the campaign …";
    byId("end").disabled = false;
  }
}

function showArms() {
  const data = known.arms;
  if (data.kind === "none") return;
  const centre = data.arms[data.centre];
  byId("arms-title").replaceChildren(data.kind === "ladder" ? "The ladder around " : "Around ", label(centre.text, 30));
  byId("picture").replaceChildren(...(data.kind === "graph" ? [arms.picture(data, byId("picture").clientWidth)] : []));
  const focused = document.activeElement?.dataset?.arm;
  const { table, hidden } = arms.table(data, isAdmin ? changePause : null);
  byId("arms").replaceChildren(table);
  if (focused !== undefined) [...table.querySelectorAll("button")].find((button) => button.dataset.arm === focused)?.focus();
  byId("arms-note").textContent = arms.note(data, hidden);
  if (isAdmin) byId("insert").disabled = data.edges.length === 0;
}

function showCertificate() {
  const { found, alarms, problem } = known.certificate;
  const place = byId("certificate");
  if (problem) place.replaceChildren(h("p", { class: "problem" }, problem));
  else if (found === null) place.replaceChildren(h("p", { class: "soft" }, alarms === null ? "Being looked for …" : "It cannot be asked of this campaign yet, or of a policy that forgets."));
  else {
    const rows = found.rows.map(([arm, standing, belief]) => h("tr", {},
      h("th", { scope: "row" }, label(arm, 24)),
      h("td", { class: standing === "may be better" ? "open" : standing === "worse" ? "" : "good" }, standing),
      h("td", { class: "number" }, belief)));
    const [{ open, count: n }, { more, waiting }] = found.missing;
    const missing = [];
    if (!found.certified) {
      if (n) missing.push(h("li", {}, n === 1 ? "One neighbour cannot be told from " : `${count(n)} neighbours cannot be told from `, label(found.arm, 24), " yet: ", ...open.slice(0, 5).flatMap((arm, i) => [i ? ", " : "", label(arm, 24)]), n > 5 ? ", …" : "."));
      if (more) missing.push(h("li", {}, `About ${count(more)} more rewards at the present rate.`));
      if (waiting) missing.push(h("li", {}, `${count(waiting)} rewards wait until an earlier decision has its own.`));
    }
    place.replaceChildren(
      h("p", { class: found.certified ? "verdict good" : "verdict" }, found.sentences[0]),
      missing.length ? h("h3", {}, "What is missing") : "",
      missing.length ? h("ul", {}, ...missing) : "",
      rows.length ? h("table", { class: "plain" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "arm"), h("th", { scope: "col" }, "certificate"), h("th", { scope: "col", class: "number" }, "best (belief)"))), h("tbody", {}, ...rows)) : "",
      ...found.sentences.slice(1).map((sentence) => h("p", { class: "soft" }, sentence)),
      h("p", { class: "soft small" }, `As of decision ${count(found.decisions)}; it is looked for again as the log grows.`));
  }
  byId("alarms").hidden = !alarms?.length;
  byId("alarms").querySelector("ul").replaceChildren(...(alarms || []).map((alarm) => h("li", {}, h("b", {}, alarm.kind), " ", alarm.sentence, alarm.since ? h("span", { class: "soft" }, ` Since ${moment(alarm.since)}.`) : null)));
}

function showWaiting() {
  const { ages, oldest, count: all } = known.waiting;
  const most = Math.max(...ages.map(([, n]) => n), 1);
  const rows = ages.map(([text, n]) => h("tr", {},
    h("th", { scope: "row" }, text),
    h("td", { class: "bar-cell" }, h("progress", { max: String(most), value: String(n), "aria-label": `${text}: ${n}` })),
    h("td", { class: "number" }, count(n))));
  byId("waiting").replaceChildren(
    h("table", { class: "plain bars" }, h("tbody", {}, ...rows)),
    h("p", { class: "soft" }, all ? `${count(all)} wait for their reward, the oldest for ${duration(oldest)}.` : "Every decision has its reward."));
}

const REASONS = { start: "start", contest: "contest", "forced leader": "leader's turn", cap: "cap", "look around": "look around" };

function showWhy() {
  const place = byId("why");
  const { decisions } = known.why;
  if (!decisions.length) {
    if (known.figures?.decisions === 0) place.replaceChildren(h("p", { class: "soft" }, "There are no decisions yet."));
    return;
  }
  const open = new Set([...place.querySelectorAll("details[open]")].map((one) => one.dataset.id));
  const focused = document.activeElement?.closest("#why details")?.dataset.id;
  place.replaceChildren(...decisions.map((one) => {
    const isNumber = (i) => i > 0 && i < one.columns.length - 1;
    const head = h("tr", {}, ...one.columns.map((column, i) => h("th", { scope: "col", class: isNumber(i) ? "number" : "" }, column)));
    const rows = one.rows.map((row) => h("tr", {}, ...row.map((cell, i) => h("td", { class: isNumber(i) ? "number" : "" }, i ? cell : label(cell, 24)))));
    const details = h("details", { "data-id": String(one.id) },
      h("summary", {},
        h("span", { class: "what" }, h("span", { class: "soft" }, `#${count(one.id)}`), " ", label(one.arm, 24), " ", h("span", { class: "badge" }, REASONS[one.reason] || one.reason)),
        h("span", { class: "because" }, one.because)),
      one.rows.length ? h("div", { class: "scroll" }, h("table", { class: "plain" }, h("thead", {}, head), h("tbody", {}, ...rows))) : null,
      h("p", { class: "soft" }, `Decided ${moment(one.time)}.`));
    details.open = open.has(String(one.id));
    return details;
  }));
  if (focused) place.querySelector(`details[data-id="${focused}"] summary`)?.focus();
}

function showOverTime() {
  const data = known.over_time;
  if (!data.leader.until.length) return;
  charts.reward.show(data.reward, axis);
  charts.leader.show(data.leader, axis);
}

const sections = { figures: showFigures, arms: showArms, certificate: () => { showCertificate(); showFigures(); }, over_time: showOverTime, waiting: showWaiting, why: showWhy };

async function refresh() {
  const have = Object.values(known).map((section) => section.digest).join(".");
  const told = await get(`/dashboard/campaigns/${encodeURIComponent(name)}?have=${have}`);
  for (const title of Object.keys(sections)) if (told[title]) known[title] = told[title];
  for (const [title, show] of Object.entries(sections)) if (told[title]) show();
  if (told.behind) byId("about").textContent = `Reading the log: ${count(told.behind)} events to go …`;
  document.body.dataset.ready = "yes";
  return { more: told.behind > 0, problem: known.figures?.problem };
}

// What an admin may do.

async function done(sentence, work) {
  await work();
  const place = byId("done");
  place.hidden = false;
  place.textContent = sentence;
  refreshNow();
}

function changePause(arm) {
  const wanted = arm.paused ? "resume" : "pause";
  const words = arm.paused
    ? "It is offered again, with all that is known of it."
    : "It is not offered until it is resumed. What is known of it is kept, and its open decisions still take rewards.";
  ask({
    title: [arm.paused ? "Resume " : "Pause ", label(arm.text, 40), "?"],
    text: words,
    yes: arm.paused ? "Resume" : "Pause",
    act: () => done(`${arm.text} is ${arm.paused ? "offered again" : "paused"}.`, () => send("POST", `${api}/${wanted}`, { arms: [arm.label] })),
  });
}

function insert() {
  const { edges, arms: all, centre } = known.arms;
  const near = edges.filter((edge) => edge.includes(centre));
  const rest = edges.filter((edge) => !edge.includes(centre));
  const pairs = [...near, ...rest];
  const place = h("select", { id: "between" }, ...pairs.map(([one, other], i) => h("option", { value: String(i) }, `${all[one].text} and ${all[other].text}`)));
  const input = h("input", { id: "new-arm", type: "text", maxlength: "200", required: true, autocomplete: "off", spellcheck: "false" });
  ask({
    title: ["Insert an arm"],
    text: "The edge between two arms is replaced by two edges to the new one, which has no rewards yet.",
    fields: [h("label", { for: "new-arm" }, "Label of the new arm"), input, h("label", { for: "between" }, "Between"), place],
    yes: "Insert",
    act: () => {
      const [one, other] = pairs[Number(place.value)].map((i) => all[i]);
      const text = input.value.trim();
      const isNumber = [one, other].every((arm) => typeof arm.label === "number") && text !== "" && Number.isFinite(Number(text));
      const body = { arm: isNumber ? Number(text) : text, between: [one.label, other.label] };
      return done(`${text} stands between ${one.text} and ${other.text}.`, () => send("POST", `${api}/insert`, body));
    },
  });
}

function end() {
  const { ended } = known.figures;
  ask({
    title: [ended ? "Let " : "End ", name, ended ? " decide again?" : "?"],
    text: ended
      ? "It goes on with all that it knows."
      : "It hands out no more decisions; rewards of those that are open still count. It can be let go on later.",
    yes: ended ? "Let it decide" : "End it",
    danger: !ended,
    act: () => done(ended ? "The campaign decides again." : "The campaign has ended.", () => send("PATCH", api, { ended: !ended })),
  });
}

if (isAdmin) {
  byId("insert").addEventListener("click", insert);
  byId("end").addEventListener("click", end);
}
for (const button of document.querySelectorAll("[data-axis]")) {
  button.addEventListener("click", () => {
    axis = button.dataset.axis;
    for (const one of document.querySelectorAll("[data-axis]")) one.setAttribute("aria-pressed", String(one === button));
    if (known.over_time) showOverTime();
  });
}
document.addEventListener("theme", () => { if (known.over_time) showOverTime(); });
refreshNow = live(`/dashboard/campaigns/${encodeURIComponent(name)}/events`, refresh);
