// The arms: a table with the interval of each mean, and the picture of a graph that is no ladder.
import { count, h, label, number, shortened, svg } from "./common.js";

const COLOURS = 7;
const LETTERS = 12;

// Where a mean lies between the lowest and the highest that are sure, as a class of the palette.
function tone(arm, [low, high]) {
  if (arm.mean === null) return "unpulled";
  const share = high > low ? Math.min(Math.max((arm.mean - low) / (high - low), 0), 1) : 1;
  return `m${Math.round(share * (COLOURS - 1))}`;
}

function meansOf(arms) {
  const ranked = arms.filter((arm) => arm.mean !== null).sort((a, b) => b.pulls - a.pulls);
  const sure = ranked.filter((arm, i) => i < 2 || arm.pulls >= 30).map((arm) => arm.mean);
  return sure.length ? [Math.min(...sure), Math.max(...sure)] : [0, 1];
}

function said(arm) {
  const mean = arm.mean === null ? "no rewards" : `mean ${number(arm.mean)}`;
  const between = arm.low === null ? "" : `, 95 % ${number(arm.low, 3)} … ${number(arm.high, 3)}`;
  return `${arm.text}: ${count(arm.pulls - arm.past)} pulls${arm.past ? ` and ${count(arm.past)} from past data` : ""}, ${mean}${between}${arm.paused ? ", paused" : ""}`;
}

// An interval and a mean on a scale that all rows share; what is outside of it ends in an arrow.
function whisker(arm, scale, isCentre) {
  const picture = svg("svg", { class: isCentre ? "whisker centre" : "whisker", role: "img", "aria-label": said(arm) },
    svg("title", {}, said(arm)));
  if (scale === null || arm.low === null) return picture;
  const [from, to] = scale;
  const at = (x) => Math.min(Math.max((100 * (x - from)) / (to - from), 0), 100);
  const [low, high] = [at(arm.low), at(arm.high)];
  const faint = arm.pulls < 1 ? " faint" : arm.pulls < 30 ? " few" : "";
  picture.append(svg("line", { class: `interval${faint}`, x1: `${low}%`, x2: `${high}%`, y1: 11, y2: 11 }));
  for (const [end, value, beyond] of [[low, arm.low, arm.low < from], [high, arm.high, arm.high > to]]) {
    if (!beyond && value !== null) picture.append(svg("line", { class: `end${faint}`, x1: `${end}%`, x2: `${end}%`, y1: 6, y2: 16 }));
  }
  if (arm.mean !== null) {
    const inside = arm.mean >= from && arm.mean <= to;
    picture.append(svg("circle", { class: inside ? "mean" : "mean outside", cx: `${at(arm.mean)}%`, cy: 11, r: 4.5 }));
  }
  return picture;
}

function rung(arm, means, most, place, last) {
  const size = 3.5 + 6 * Math.sqrt(most > 0 ? arm.pulls / most : 0);
  const picture = svg("svg", { class: "rung", viewBox: "0 0 24 36", "aria-hidden": "true" });
  if (place > 0) picture.append(svg("line", { x1: 12, x2: 12, y1: 0, y2: 18 }));
  if (place < last) picture.append(svg("line", { x1: 12, x2: 12, y1: 18, y2: 36 }));
  picture.append(svg("circle", { class: `node ${tone(arm, means)}${arm.paused ? " paused" : ""}`, cx: 12, cy: 18, r: size.toFixed(1) }));
  return picture;
}

export function table(data, act) {
  const means = meansOf(data.arms);
  const most = Math.max(...data.arms.map((arm) => arm.pulls), 0);
  const isLadder = data.kind === "ladder";
  let order = data.arms.map((_, i) => i);
  if (isLadder) order.reverse(); // the highest rung is on top
  else {
    order = order.filter((i) => data.arms[i].near);
    order.sort((a, b) => (b === data.centre) - (a === data.centre) || data.arms[b].pulls - data.arms[a].pulls);
  }
  const shown = isLadder ? order : order.slice(0, 16);
  const hasPast = data.arms.some((arm) => arm.past);
  const rows = shown.map((i, place) => {
    const arm = data.arms[i];
    const isCentre = i === data.centre;
    const marks = [];
    if (isCentre) marks.push(h("span", { class: "badge lead" }, data.why === "the leader" ? "leader" : "shown"));
    if (arm.paused) marks.push(h("span", { class: "badge warn" }, "paused"));
    const wanted = arm.paused ? "Resume" : "Pause";
    return h("tr", { class: `${isCentre ? "centre" : ""}${arm.paused ? " paused" : ""}` },
      h("td", { class: "rung-cell" }, rung(arm, means, most, isLadder ? place : 0, isLadder ? shown.length - 1 : 0)),
      h("th", { scope: "row" }, label(arm.text, 28), ...marks),
      h("td", { class: "whisker-cell" }, whisker(arm, data.scale, isCentre)),
      h("td", { class: "number mean-cell" }, number(arm.mean, 3)),
      h("td", { class: "number" }, count(arm.pulls - arm.past)),
      hasPast ? h("td", { class: "number past" }, count(arm.past)) : null,
      h("td", { class: "number leads" }, count(arm.leads)),
      act ? h("td", { class: "act" }, h("button", { type: "button", "data-arm": arm.text, onclick: () => act(arm) }, wanted, h("span", { class: "unseen" }, ` ${arm.text}`))) : null);
  });
  const [from, to] = data.scale || [0, 1];
  const head = h("thead", {}, h("tr", {},
    h("th", { scope: "col", colspan: "2" }, "arm"),
    h("th", { scope: "col", class: "whisker-cell" },
      h("span", { class: "ends" }, h("span", {}, number(from, 3)), h("span", { class: "wide" }, "95 % interval"), h("span", {}, number(to, 3)))),
    h("th", { scope: "col", class: "number mean-cell" }, "mean"),
    h("th", { scope: "col", class: "number" }, "pulls"),
    hasPast ? h("th", { scope: "col", class: "number past", title: "Pulls from past data" }, "past") : null,
    h("th", { scope: "col", class: "number leads" }, "led"),
    act ? h("th", { scope: "col" }, h("span", { class: "unseen" }, "change")) : null));
  return { table: h("table", { class: `arm-table ${data.kind}` }, head, h("tbody", {}, ...rows)), hidden: order.length - shown.length };
}

export function note(data, hidden) {
  const words = [];
  if (data.kind === "ladder") {
    if (data.above) words.push(`${count(data.above)} rungs above and`);
    if (data.below || data.above) words.push(`${count(data.below)} below are not drawn.`);
  } else {
    words.push(data.rings > 1 ? `Arms up to ${data.rings} steps away are drawn; the table has the neighbours.` : "The neighbours are drawn.");
    if (hidden) words.push(`${count(hidden)} neighbours with fewer pulls are not listed.`);
    if (data.left_out) words.push(`${count(data.left_out)} are not drawn.`);
    if (data.thinned) words.push("Edges among the neighbours are not drawn.");
  }
  words.push("A point is the larger, the more pulls, and the stronger in colour, the higher its mean; dashed: never pulled. Intervals are those of the posterior, thin below 30 pulls.");
  return words.join(" ");
}

// The graph around the leader; as `unimodal inspect` draws it.
export function picture(data, room) {
  const width = Math.min(Math.max(room, 320), 640); // letters keep their size on a phone
  const largest = width > 480 ? 22 : 15;
  const arms = data.arms;
  const means = meansOf(arms);
  const most = Math.max(...arms.map((arm) => arm.pulls), 0);
  const xs = arms.map((arm) => arm.x);
  const ys = arms.map((arm) => arm.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const reach = Math.max((right - left) / 2, (bottom - top) / 2, 1);
  const isCrowd = arms.length > 25;
  const letters = Math.min(Math.max(...arms.map((arm) => arm.text.length)), LETTERS);
  const margin = Math.max((isCrowd ? 7 : 4.5) * letters, 20) + largest;
  const scale = (width / 2 - margin) / reach;
  const height = (bottom - top) * scale + 2 * (largest + 20);
  const at = (arm) => [width / 2 + scale * (arm.x - (left + right) / 2), largest + 20 + scale * (arm.y - top)];
  const drawn = svg("svg", { class: "graph-picture", viewBox: `0 0 ${width} ${Math.round(height)}`, role: "img", "aria-label": `The graph around ${arms[data.centre].text}: ${arms.length} arms` });
  for (const [one, other] of data.edges) {
    const [x1, y1] = at(arms[one]);
    const [x2, y2] = at(arms[other]);
    drawn.append(svg("line", { class: "edge", x1, y1, x2, y2 }));
  }
  const order = arms.map((_, i) => i).sort((a, b) => arms[b].pulls - arms[a].pulls);
  for (const i of order) {
    const arm = arms[i];
    const [x, y] = at(arm);
    const size = 6 + (largest - 6) * Math.sqrt(most > 0 ? arm.pulls / most : 0);
    const names = ["node", tone(arm, means), i === data.centre ? "centre" : "", arm.paused ? "paused" : ""];
    drawn.append(svg("g", {}, svg("title", {}, said(arm)),
      svg("circle", { class: names.join(" "), cx: x, cy: y, r: size.toFixed(1) }),
      text(arm, x, y, size, isCrowd)));
  }
  return drawn;
}

function text(arm, x, y, size, isCrowd) {
  const length = Math.hypot(arm.x, arm.y);
  const place = { x, y: y + size + 15, class: "name" };
  if (isCrowd && length > 0) { // in a crowd a label stands outside of its ring
    const sideways = arm.x / length;
    place.class = `name small ${sideways > 0.3 ? "start" : sideways < -0.3 ? "end" : ""}`;
    place.x = x + ((size + 5) * arm.x) / length;
    place.y = y + ((size + 5) * arm.y) / length + 4 + (Math.abs(sideways) > 0.3 ? 0 : Math.sign(arm.y) * 5);
  }
  return svg("text", place, shortened(arm.text, LETTERS));
}
