// What the pages share: elements, numbers as text, calls of the service, and events.
// Text of others only ever becomes a text node: nothing here parses HTML.

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list" && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export const byId = (id) => document.getElementById(id);
export const label = (text, most = 200) => h("bdi", { class: "label", title: text.length > most ? text : null }, shortened(text, most));
export const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
export const isAdmin = document.body.dataset.admin === "yes";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const count = (n) => (n === null || n === undefined ? "–" : whole.format(n));
export const compact = (n) => (n >= 1e5 ? new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(n) : count(n));
export function number(x, digits = 4) {
  if (x === null || x === undefined) return "–";
  return Math.abs(x) >= 10 ** digits ? count(x) : String(Number(x.toPrecision(digits)));
}

export function percent(share) {
  if (share === null || share === undefined) return "–";
  if (share <= 0) return "none yet";
  if (share > 0.999999) return "> 99.9999 %";
  const digits = share < 0.99 ? 1 : Math.min(2 - Math.floor(Math.log10(1 - share)) - 1, 6);
  const power = 10 ** digits;
  return `${Math.floor(share * 100 * power) / power} %`;
}

export function moment(seconds) {
  const date = new Date(seconds * 1000);
  if (seconds === null || Number.isNaN(date.getTime())) return "–";
  return date.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

export function duration(seconds) {
  if (seconds === null) return "–";
  for (const [unit, size] of [["day", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= size) {
      const n = Math.floor(seconds / size);
      return `${n} ${unit}${unit === "day" && n > 1 ? "s" : ""}`;
    }
  }
  return `${Math.max(Math.floor(seconds), 0)} s`;
}

// Calls.

let csrf = null;

async function answered(response) {
  if (response.status === 401) {
    location.assign(`/sign-in?then=${encodeURIComponent(location.pathname)}`);
  }
  const data = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(data.detail || `the service answered ${response.status}: try again.`);
  return data;
}

async function reached(path, options) {
  try {
    return await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Error("The service cannot be reached: this page shows what it knew, and tries again by itself.");
  }
}

export async function get(path) {
  return answered(await reached(path, {}));
}

export async function send(method, path, body) {
  if (csrf === null) csrf = (await get("/session")).csrf;
  const headers = { "X-CSRF-Token": csrf };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return answered(await reached(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }));
}

// Live.

export function say(problem) {
  const place = byId("problem");
  place.hidden = !problem;
  place.textContent = problem || "";
}

// Calls `refresh` now, whenever the service says that something changed, and every 30 seconds: ages
// grow by themselves, and a stream may be refused.
export function live(path, refresh) {
  let running = false;
  let again = false;
  const run = async () => {
    if (running) { again = true; return; }
    running = true;
    const began = Date.now();
    let more = false; // of a long log, which is read in parts
    try {
      const found = await refresh();
      more = found.more;
      say(found.problem);
    } catch (error) {
      say(error.message);
    }
    running = false;
    if (more || again) setTimeout(run, more ? 50 : Math.max(began + 1000 - Date.now(), 50));
    again = false;
  };
  const state = (name, text) => {
    byId("live").dataset.state = name;
    byId("live-text").textContent = text;
  };
  // A browser has six connections to a host: pages that nobody looks at must not hold them.
  let source = null;
  const close = () => { source?.close(); source = null; };
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(path);
    source.addEventListener("open", () => state("on", "live"));
    source.addEventListener("changed", run);
    source.addEventListener("signed-out", () => { close(); run(); });
    source.addEventListener("error", () => {
      state("off", "reconnecting");
      run(); // which says so, if there is nobody
      if (source?.readyState !== EventSource.CLOSED) return;
      close(); // refused, after which a browser does not try again by itself
      setTimeout(open, 10000);
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) { open(); run(); return; }
    close();
    state("", "resting");
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) { open(); run(); } });
  open();
  setInterval(() => { if (!document.hidden) run(); }, 30000);
  const out = byId("log-out");
  if (out) {
    out.addEventListener("click", async () => {
      close();
      try { await send("DELETE", "/session"); } catch { /* it has ended already */ }
      location.assign("/sign-in");
    });
  }
  run();
  return run;
}
