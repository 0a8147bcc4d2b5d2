"use strict";

// A link into what is folded unfolds it.
const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) {
    if (one.tagName === "DETAILS") one.open = true;
  }
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", reveal);
if (location.hash) reveal();

// Columns of tables sort: numbers by value, other texts by letters, again for the other way.
const value = (row, column) => row.cells[column].textContent.trim();
const size = (text) => parseFloat(text.replace("−", "-").replace(/,/g, "").replace(/^[<±]\s*/, ""));
const sort = (table, column, head) => {
  const up = head.getAttribute("aria-sort") !== "ascending";
  const rows = [...table.tBodies[0].rows];
  const numbers = rows.map((row) => size(value(row, column)));
  const byNumber = numbers.filter(Number.isNaN).length < rows.length / 2;
  const compare = byNumber
    ? (a, b) => (size(value(a, column)) || 0) - (size(value(b, column)) || 0)
    : (a, b) => value(a, column).localeCompare(value(b, column));
  rows.sort((a, b) => (up ? compare(a, b) : compare(b, a)));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  table.tBodies[0].append(...rows);
};
for (const table of document.querySelectorAll("table")) {
  if (table.tBodies[0].rows.length < 3) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column, head));
    head.append(button);
  });
}

// Answers: all open or closed, and only those that hold the words looked for.
const toggle = document.getElementById("open-all");
if (toggle) {
  const section = toggle.closest("section");
  const folds = [...section.querySelectorAll("details details")];
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const open = folds.some((one) => !one.open);
    for (const one of folds) one.open = open;
    toggle.textContent = open ? "Close all" : "Open all";
  });
  const search = document.getElementById("search");
  search.closest("label").hidden = false;
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const fold of folds) {
      const found = [...fold.querySelectorAll(".exchange")].filter((one) => {
        const text = `${fold.firstElementChild.textContent} ${one.textContent}`.toLowerCase();
        one.hidden = !words.every((word) => text.includes(word));
        return !one.hidden;
      });
      fold.hidden = !found.length;
      if (words.length) fold.open = found.length > 0;
    }
  });
}
