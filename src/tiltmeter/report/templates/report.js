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
const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) {
    if (one.tagName === "DETAILS") one.open = true;
  }
  target?.closest("details")?.setAttribute("open", "");
  target?.scrollIntoView();
};
addEventListener("hashchange", reveal);
if (location.hash) reveal();
