import { h, percent, svg } from "./common.js";

// Nine tenths are far from sure and 99.9 % is further: the scale is one of nines.
export function meter(level, certified) {
  const share = level === null ? 0 : Math.min(-Math.log10(Math.max(1 - level, 1e-4)) / 4, 1);
  const picture = svg("svg", { class: certified ? "meter good" : "meter", role: "img", "aria-label": `certainty ${percent(level)}` },
    svg("rect", { class: "track", x: 0, y: 0, width: "100%", height: "100%", rx: 3 }),
    svg("rect", { class: "fill", x: 0, y: 0, width: `${(100 * share).toFixed(1)}%`, height: "100%", rx: 3 }));
  for (const tick of [25, 50, 75]) {
    picture.append(svg("line", { x1: `${tick}%`, x2: `${tick}%`, y1: 0, y2: "100%" }));
  }
  return h("span", { class: "meter-box", title: "0 %, 90 %, 99 %, 99.9 %, 99.99 %" }, picture);
}
