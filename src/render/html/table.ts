import { cellText, isNumeric, type Table } from "../table.ts";
import { counted, grouped } from "../text.ts";
import { textHtml } from "./escape.ts";

/** More rows make a page slow; the data itself is in the other export formats. */
const MAX_ROWS = 500;
const MAX_COLUMNS = 100;
const MAX_CELL_CHARS = 1000;

/** @returns A data frame as a table that scrolls by itself, with its size as caption. */
export function tableHtml({ columns, rows, total }: Table): string {
  const shown = columns.slice(0, MAX_COLUMNS);
  const head = shown.map((column) => `<th scope="col"${align(isNumeric(column))}>${textHtml(column.name)}</th>`);
  const body = rows.slice(0, MAX_ROWS).map((row) => {
    const cells = shown.map((column, index) => `<td${align(isNumeric(column))}>${cellHtml(row[index])}</td>`);
    return `<tr>${cells.join("")}</tr>`;
  });
  const size = `${counted(total, "row")} × ${counted(columns.length, "column")}`;
  const cut = [
    ...(total > body.length ? [`first ${grouped(body.length)} rows`] : []),
    ...(columns.length > MAX_COLUMNS ? [`first ${grouped(MAX_COLUMNS)} columns`] : []),
  ];
  const caption = cut.length > 0 ? `${size}, shown: ${cut.join(", ")}` : size;
  return (
    `<div class="table" role="group" aria-label="Table" tabindex="0"><table><caption>${caption}</caption>` +
    `<thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`
  );
}

const align = (numeric: boolean): string => (numeric ? ' class="num"' : "");

function cellHtml(cell: unknown): string {
  const text = cellText(cell);
  return textHtml(text.length > MAX_CELL_CHARS ? `${text.slice(0, MAX_CELL_CHARS)}…` : text);
}
