"use strict";
// Only comfort: without this everything can be read, in the order in which it stands.
(() => {
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
  if (location.hash === "#dark" || location.hash === "#light") root.dataset.theme = location.hash.slice(1);
  const toggle = document.getElementById("theme");
  const label = () => { toggle.textContent = dark() ? "light theme" : "dark theme"; };
  toggle.hidden = false;
  toggle.onclick = () => { root.dataset.theme = dark() ? "light" : "dark"; label(); };
  label();

  const key = cell => cell.dataset.v !== undefined ? parseFloat(cell.dataset.v) : cell.textContent.trim();
  const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  for (const th of document.querySelectorAll("thead th[data-s]")) {
    const button = document.createElement("button");
    button.append(...th.childNodes);
    button.title = "sort";
    th.append(button);
    button.onclick = () => {
      const down = th.getAttribute("aria-sort") !== "descending";
      for (const other of th.parentNode.children) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = th.closest("table").tBodies[0];
      const rows = [...body.rows].sort((a, b) => order(key(a.cells[th.cellIndex]), key(b.cells[th.cellIndex])) * (down ? -1 : 1));
      body.append(...rows);
    };
  }

  // The browser's own tooltips are late, and do not come at all on touch.
  for (const title of document.querySelectorAll("svg title")) {
    const of = title.parentNode;
    of.dataset.t = title.textContent;
    of.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const show = event => {
    const at = event.target.closest && event.target.closest("[data-t]");
    tip.hidden = !at;
    if (!at) return;
    tip.textContent = at.dataset.t;
    tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (event.clientY > innerHeight - 70 ? event.clientY - 40 : event.clientY + 16) + "px";
  };
  document.addEventListener("pointermove", show, { passive: true });
  document.addEventListener("pointerdown", show, { passive: true });
})();
