import { byId, compact, count, duration, get, h, label, live, number, percent, svg } from "./common.js";
import { meter } from "./meter.js";

function spark(values) {
  const known = values.filter((value) => value !== null);
  const picture = svg("svg", { class: "spark", viewBox: "0 0 120 32", "aria-hidden": "true" });
  if (known.length < 2) return picture;
  const low = Math.min(...known);
  const high = Math.max(...known);
  const points = known.map((value, i) => {
    const x = 2 + (116 * i) / (known.length - 1);
    const y = high > low ? 29 - (26 * (value - low)) / (high - low) : 16;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  picture.append(svg("polyline", { points: points.join(" ") }));
  const [x, y] = points[points.length - 1].split(",");
  picture.append(svg("circle", { cx: x, cy: y, r: 2.5 }));
  return picture;
}

function cell(name, ...children) {
  return h("td", { "data-name": name }, ...children);
}

function alarms(row) {
  if (row.problem) return h("span", { class: "badge warn", title: row.problem }, "cannot be read");
  if (row.alarms === null) return h("span", { class: "soft" }, "…");
  if (row.alarms === 0) return h("span", { class: "soft" }, "none");
  return h("span", { class: "alarm-cell" },
    h("span", { class: "badge warn" }, row.alarms === 1 ? "1 alarm" : `${row.alarms} alarms`),
    h("span", { class: "soft" }, row.first_alarm));
}

function line(row) {
  const now = Date.now() / 1000;
  const last = row.last === null ? "nothing yet" : `last event ${duration(now - row.last)} ago`;
  const behind = row.behind ? ` · ${count(row.behind)} events still to be read` : "";
  const name = h("th", { scope: "row" },
    h("a", { href: `/campaigns/${encodeURIComponent(row.name)}` }, row.name),
    row.ended ? h("span", { class: "badge" }, "ended") : null,
    h("span", { class: "under" }, `${compact(row.decisions)} decisions · ${last}${behind}`));
  return h("tr", { class: row.alarms ? "has-alarm" : "" },
    name,
    cell("Leader", row.leader === null ? "–" : label(row.leader, 24)),
    cell("Certainty", meter(row.level, row.certified),
      h("span", { class: row.certified ? "good" : "", title: row.level === null ? "It cannot be asked of this campaign yet, or of a policy that forgets." : null }, row.certified ? `${percent(row.level)} ✓` : percent(row.level))),
    h("td", { "data-name": "Decisions today", class: "number" }, count(row.today),
      h("span", { class: "under" }, `${compact(row.per_hour)} per hour`)),
    h("td", { "data-name": "Reward rate", class: "number" }, number(row.rate),
      h("span", { class: "under" }, "per decision")),
    h("td", { class: "spark-cell" }, spark(row.spark)),
    cell("Alarms", alarms(row)));
}

async function refresh() {
  const { campaigns, note } = await get("/dashboard/campaigns");
  campaigns.sort((a, b) => a.ended - b.ended || (b.alarms || 0) - (a.alarms || 0) || (a.name < b.name ? -1 : 1));
  const table = byId("campaigns");
  const focused = document.activeElement?.closest("#campaigns a")?.getAttribute("href");
  table.tBodies[0].replaceChildren(...campaigns.map(line));
  if (focused) [...table.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
  byId("list").hidden = !campaigns.length;
  const alarmed = campaigns.filter((one) => one.alarms).length;
  const today = campaigns.reduce((sum, one) => sum + one.today, 0);
  byId("summary").textContent = campaigns.length
    ? `${count(campaigns.length)} campaign${campaigns.length > 1 ? "s" : ""}, ${count(today)} decisions today, ${alarmed ? `${alarmed} with alarms` : "no alarms"}.`
    : note || "There are no campaigns yet: POST /v1/campaigns makes one, and so does um.Campaign.open in the store's folder.";
  return { more: campaigns.some((one) => one.behind), problem: null };
}

live("/dashboard/events", refresh);
