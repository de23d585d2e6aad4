// Reward and leader over time, by uPlot; a point is a part of the log.
/* global uPlot */
import { count, moment, number, shortened } from "./common.js";

const HEIGHT = 230;

function colours() {
  const style = getComputedStyle(document.documentElement);
  const one = (name) => style.getPropertyValue(name).trim();
  return { ink: one("--ink"), soft: one("--soft"), line: one("--line"), main: one("--main"), band: one("--band") };
}

const font = "12px system-ui, sans-serif";

function xAxis(axis, paint) {
  const values = axis === "time" ? undefined : (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? count(tick) : ""));
  return { stroke: paint.soft, font, grid: { stroke: paint.line, width: 1 }, ticks: { stroke: paint.line, width: 1, size: 5 }, values, space: 70, size: 34 };
}

function xOf(data, axis) {
  const given = data[axis];
  const rising = [];
  for (const value of given) { // clocks may go back, and a chart cannot
    rising.push(rising.length && value <= rising[rising.length - 1] ? rising[rising.length - 1] + 1e-6 : value);
  }
  return rising;
}

class Chart {
  constructor(place, readout, plain) {
    Object.assign(this, { place, readout, plain, drawn: null });
    new ResizeObserver(() => this.resize()).observe(place);
  }

  resize() {
    const width = this.place.clientWidth;
    if (this.drawn && width && width !== this.drawn.width) this.drawn.setSize({ width, height: HEIGHT });
  }

  draw(options, columns) {
    this.drawn?.destroy();
    this.place.hidden = false;
    const width = this.place.clientWidth || 320;
    const hooks = { setCursor: [(u) => this.tell(u.cursor.idx)], ...options.hooks };
    const cursor = { y: false, points: { show: false } };
    this.drawn = new uPlot({ width, height: HEIGHT, legend: { show: false }, cursor, ...options, hooks }, columns, this.place);
    this.tell(null);
  }

  // Axes without a line would only say that something is missing.
  empty(sentence) {
    this.drawn?.destroy();
    this.drawn = null;
    this.place.hidden = true;
    this.readout.textContent = sentence;
  }

  tell(index) {
    this.readout.textContent = index === null || index === undefined ? this.summary() : this.at(index);
  }
}

function when(data, i) {
  return `Up to decision ${count(data.until[i])} (${moment(data.time[i])}): `;
}

export class RewardChart extends Chart {
  show(data, axis) {
    this.data = data;
    if (data.mean.every((mean) => mean === null)) return this.empty("No rewards have come yet.");
    const paint = colours();
    const low = data.mean.map((mean, i) => (mean === null ? null : mean - (data.error[i] || 0)));
    const high = data.mean.map((mean, i) => (mean === null ? null : mean + (data.error[i] || 0)));
    const edge = { stroke: "transparent", points: { show: false }, spanGaps: true };
    this.draw({
      scales: { x: { time: axis === "time" } },
      axes: [xAxis(axis, paint), { stroke: paint.soft, font, size: 58, grid: { stroke: paint.line, width: 1 }, ticks: { show: false }, values: (_, ticks) => ticks.map((tick) => number(tick)) }],
      series: [{}, edge, edge, { stroke: paint.main, width: 2, points: { show: data.mean.length < 3 }, spanGaps: true }],
      bands: [{ series: [2, 1], fill: paint.band }],
    }, [xOf(data, axis), low, high, data.mean]);
  }

  summary() {
    return `Mean reward of each part of the log, with its 95 % interval; a part has ${count(this.data.events)} events.`;
  }

  at(i) {
    const { mean, error, rewards } = this.data;
    const around = error[i] === null ? "" : ` ± ${number(error[i], 2)}`;
    return `${when(this.data, i)}${number(mean[i])}${mean[i] === null ? "" : around}, ${count(rewards[i])} rewards.`;
  }
}

export class LeaderChart extends Chart {
  show(data, axis) {
    this.data = data;
    if (!data.leaders.length) return this.empty(this.summary());
    const paint = colours();
    const names = data.leaders.map((name) => shortened(name, 12));
    const x = xOf(data, axis);
    const rows = names.length;
    const cells = (u) => {
      const { ctx } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      ctx.clip();
      ctx.fillStyle = paint.main;
      const edges = x.map((value) => Math.round(u.valToPos(value, "x", true))); // no seams
      for (let row = 0; row < rows; row += 1) {
        const top = u.valToPos(row + 0.92, "y", true);
        const height = u.valToPos(row + 0.08, "y", true) - top;
        for (let i = 0; i < x.length; i += 1) {
          const share = data.shares[row][i];
          if (!share) continue;
          const left = i ? edges[i - 1] : u.bbox.left;
          ctx.globalAlpha = 0.12 + 0.88 * share;
          ctx.fillRect(left, top, Math.max(edges[i] - left, 1), height);
        }
      }
      ctx.restore();
    };
    const width = Math.max(...names.map((name) => name.length), 4) * 7 + 16;
    this.draw({
      scales: { x: { time: axis === "time" }, y: { range: [0, Math.max(rows, 1)] } },
      axes: [xAxis(axis, paint), {
        stroke: paint.soft, font, size: Math.min(width, 110), grid: { show: false }, ticks: { show: false },
        splits: () => names.map((_, i) => i + 0.5), values: () => names,
      }],
      series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
      hooks: { draw: [cells] },
    }, [x, x.map(() => 0)]);
  }

  summary() {
    const { leaders, changes, path } = this.data;
    if (!leaders.length) return "Nobody led in this log: the policy compares all arms, or is still at its start.";
    const times = changes === 1 ? "once" : changes ? `${count(changes)} times` : "never";
    return `The lead changed ${times}; the stronger the colour, the more rounds of that part. In order: ${path.map((name) => `\u2068${shortened(name, 20)}\u2069`).join(" → ")}.`;
  }

  at(i) {
    const { leaders, shares } = this.data;
    const led = leaders.map((name, row) => [name, shares[row][i]]).filter(([, share]) => share > 0);
    led.sort((a, b) => b[1] - a[1]);
    const words = led.slice(0, 3).map(([name, share]) => `\u2068${shortened(name, 20)}\u2069 ${Math.round(100 * share)} %`);
    return `${when(this.data, i)}${words.length ? words.join(", ") : "nobody led"}.`;
  }
}
