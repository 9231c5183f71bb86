"use strict";
// Hides what is not looked for. The state stands in the address, so that a view can be passed on.
const search = document.getElementById("search");
const boxes = [...document.querySelectorAll("input[name=kind]")];
const rows = [...document.querySelectorAll("tbody tr")];
const files = [...document.querySelectorAll("section")];
const shown = document.getElementById("shown");
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  let count = 0;
  for (const row of rows) {
    const text = (row.closest("section").dataset.file + " " + row.textContent).toLowerCase();
    row.hidden = !kinds.has(row.dataset.kind) || !words.every((word) => text.includes(word));
    count += row.hidden ? 0 : 1;
  }
  const all = words.length === 0 && kinds.size === boxes.length;
  for (const file of files) {
    const own = [...file.querySelectorAll("tbody tr")];
    file.hidden = !all && own.every((row) => row.hidden);
    for (const table of file.querySelectorAll("table")) {
      table.hidden = [...table.querySelectorAll("tbody tr")].every((row) => row.hidden);
    }
  }
  shown.textContent = count === rows.length ? "" : `${count} of ${rows.length} rows shown`;
}
function remember() {
  const state = new URLSearchParams();
  if (search.value) state.set("q", search.value);
  const off = boxes.filter((box) => !box.checked).map((box) => box.value);
  if (off.length) state.set("without", off.join(","));
  history.replaceState(null, "", "#" + state);
}
function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  search.value = state.get("q") || "";
  const off = (state.get("without") || "").split(",");
  for (const box of boxes) box.checked = !off.includes(box.value);
  show();
}
for (const input of [search, ...boxes]) input.addEventListener("input", () => { show(); remember(); });
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("print").addEventListener("click", () => print());
addEventListener("hashchange", recall);
recall();
