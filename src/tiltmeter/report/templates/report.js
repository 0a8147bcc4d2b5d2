"use strict";
const toggle = document.getElementById("open-all");
if (toggle) {
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const all = [...toggle.closest("section").querySelectorAll("details")];
    const open = all.some((one) => !one.open);
    for (const one of all) one.open = open;
    toggle.textContent = open ? "Close all" : "Open all";
  });
}
