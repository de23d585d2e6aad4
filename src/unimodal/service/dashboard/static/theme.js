// Before anything is drawn: the theme that was chosen here, else the one of the system.
"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try { return localStorage.getItem("theme"); } catch { return null; }
  };
  const apply = () => {
    const theme = chosen() || (system.matches ? "dark" : "light");
    if (root.dataset.theme !== theme) {
      root.dataset.theme = theme;
      document.dispatchEvent(new Event("theme"));
    }
  };
  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    button.addEventListener("click", () => {
      const theme = root.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("theme", theme); } catch { /* a private window */ }
      root.dataset.theme = theme;
      document.dispatchEvent(new Event("theme"));
    });
  });
})();
