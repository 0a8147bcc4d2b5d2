"use strict";

// The numbers of a run that goes on; a page whose tables were written anew is loaded again.
const live = document.querySelector("[data-live]");
const set = (row, name, text) => {
  const cell = row.querySelector(`[data-cell="${name}"]`);
  if (cell.textContent !== text) cell.textContent = text;
};
const look = async () => {
  try {
    const answer = await fetch(live.dataset.live, { cache: "no-store" });
    if (answer.ok) {
      const now = await answer.json();
      if (now.stamp !== live.dataset.stamp) {
        location.reload();
        return;
      }
      for (const [place, model] of now.models.entries()) {
        const row = live.querySelector(`[data-model="${place}"]`);
        for (const name of ["answered", "failed", "last"]) set(row, name, model[name]);
        const bar = row.querySelector("progress");
        if (bar) bar.value = model.share;
      }
    }
  } catch {
    // The server has ended, or a file is being replaced; the next look may succeed.
  }
  setTimeout(look, 3000);
};
if (live) setTimeout(look, 3000);
