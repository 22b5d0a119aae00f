"use strict";
async function put(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1200);
}
function lines(table) {
  const value = (cell) => cell.dataset.value ?? cell.textContent.trim();
  return [...table.rows].map((row) => [...row.cells].map(value).join("\t")).join("\n");
}
for (const button of document.querySelectorAll("button[data-table]")) {
  button.addEventListener("click", () => {
    put(lines(document.getElementById(button.dataset.table)), button);
  });
}
for (const button of document.querySelectorAll("button[data-json]")) {
  button.addEventListener("click", () => {
    put(document.getElementById("figures").textContent, button);
  });
}
