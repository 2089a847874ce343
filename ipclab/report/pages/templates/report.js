"use strict";
// Tables that sort by a column, filter by words and save as CSV. Without scripts they are plain tables.
const number = (text) => {
  const found = text.replace(/[,\u00a0\s]/g, "").replace("−", "-").match(/^[<>≥≤=]*(-?[\d.]+)(ns|µs|ms|s|kB|MB|GB|B)?/);
  const scale = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };
  return found ? Number(found[1]) * (scale[found[2]] ?? 1) : NaN;
};
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const made = (name, about, ...inside) => {
  const element = Object.assign(document.createElement(name), about);
  element.append(...inside);
  return element;
};

// A cell as CSV: the number that it holds, its interval's ends and its unit where its column holds numbers, else its text.
const known = (cell) => (cell.dataset.value ?? "").split(" ");
const parts = (cell, numbers) => {
  const text = cell.textContent.trim();
  if (!numbers) return [text];
  if (cell.tagName === "TH" && cell.scope === "col") return [text, ...["low", "high", "unit"].map((end) => `${text} ${end}`)];
  return cell.dataset.value ? known(cell) : [text, "", "", ""];
};

for (const box of document.querySelectorAll("div.table[id]:not(.form)")) {
  const table = box.querySelector("table"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const words = document.body.dataset, tools = made("p", { className: "tools" });
  const text = (row, place) => row.cells[place].textContent.trim();
  heads.forEach((head, place) => {
    const button = made("button", { type: "button", title: words.sort }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = (one, other) => {
        const [c, d] = [one, other].map((row) => Number.parseFloat(known(row.cells[place])[0]));
        if (!Number.isNaN(c - d)) return c - d;
        const [a, b] = [text(one, place), text(other, place)], by = number(a) - number(b);
        return Number.isNaN(by) ? a.localeCompare(b, document.documentElement.lang, { numeric: true }) : by;
      };
      body.append(...[...body.rows].sort((one, other) => (down ? -1 : 1) * compare(one, other)));
    });
  });
  if (body.rows.length > 8) {
    const field = made("input", { type: "search", placeholder: words.filter, ariaLabel: words.filter });
    field.addEventListener("input", () => {
      const asked = field.value.toLowerCase();
      for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(asked);
    });
    tools.append(field);
  }
  const save = made("button", { type: "button" }, "CSV");
  save.addEventListener("click", () => {
    const rows = [table.tHead.rows[0], ...body.rows].filter((row) => !row.hidden);
    const numbers = heads.map((_, place) => rows.some((row) => row.cells[place].dataset.value));
    const lines = rows.map((row) => [...row.cells].flatMap((cell, place) => parts(cell, numbers[place])).map(quoted).join(","));
    const link = made("a", { download: `${box.id}.csv` });
    link.href = URL.createObjectURL(new Blob(["\ufeff", lines.join("\n"), "\n"], { type: "text/csv" }));
    link.click();
    URL.revokeObjectURL(link.href);
  });
  tools.append(save);
  box.prepend(tools);
}
