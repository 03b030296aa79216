import type { Row } from "./bench.ts";

const HEAD = ["what", "floor", "ours", "ratio", "budget", "", "peers"];

/** The table as Markdown, which a terminal shows well enough too. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.what,
    row.floor,
    row.ours,
    row.ratio === undefined ? "" : `${row.ratio.toFixed(2)}×`,
    row.budget,
    row.met === undefined ? "" : row.met ? "met" : "**missed**",
    row.peers ?? "",
  ]);
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => (line[column] ?? "").length)),
  );
  const line = (texts: readonly string[]): string =>
    `| ${texts.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(HEAD), line(widths.map((width) => "-".repeat(width))), ...cells.map(line)].join("\n");
}
