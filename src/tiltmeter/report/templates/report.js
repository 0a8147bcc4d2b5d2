"use strict";
for (const box of document.querySelectorAll(".chart[data-spec]")) {
  const spec = JSON.parse(document.getElementById(box.dataset.spec).textContent);
  const host = document.createElement("div");
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    ast: true,
    defaultStyle: false,
    bind: box.closest("figure").querySelector(".choices") || undefined,
    tooltip: { theme: "custom", disableDefaultStyle: true },
  };
  vegaEmbed(host, spec, options).then(
    () => box.replaceChildren(host),
    (error) => console.error(box.dataset.spec, error),
  );
}
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
