import { type Block, codeIn, type Table } from "./markdown.ts";

/** A command line of a page and the output that the page shows for it; `…` in it stands for anything. */
export type Command = { readonly text: string; readonly output: readonly string[]; readonly line: number };

/**
 * The commands of a block: after `$ ` in a console block, whose other lines are output; every line of a shell block. A line
 * that ends in a backslash goes on.
 */
export function commandsOf({ language, text, line }: Block): Command[] {
  const commands: { text: string; output: string[]; line: number }[] = [];
  let open = false;
  for (const [index, row] of text.trimEnd().split("\n").entries()) {
    const last = commands.at(-1);
    const begun = language === "console" ? /^\$ (.*)$/.exec(row)?.[1] : row;
    if (open && last) last.text += `\n${row}`;
    else if (begun === undefined) last?.output.push(row);
    else if (!/^\s*(#|$)/.test(begun)) commands.push({ text: begun, output: [], line: line + index + 1 });
    open = row.endsWith("\\");
  }
  return commands;
}

/** The commands of a table that has a column for them. */
export function commandsOfTable([head = [], ...rows]: Table): Command[] {
  const column = head.indexOf("command");
  return rows.flatMap((row) => codeIn(row[column] ?? "").map((text) => ({ text, output: [], line: 0 })));
}

/** `a && b` as two commands, without a remark at their end; what has quotes or brackets stays whole. */
export function partsOf(command: string): string[] {
  const bare = command.replace(/\s+# [^"'\n]*$/, "");
  return /["'()]/.test(bare) ? [bare] : bare.split(" && ");
}

/** Where a page's lines are in the real output, one after the other: a line `…` is any number of lines. */
export function patternOf(output: readonly string[]): RegExp {
  const lines = output.map((line) => (line === "…" ? "(?:.*\\n)*?" : `${line.split("…").map(escaped).join(".*")}\\n`));
  return new RegExp(`^${lines.join("")}`, "m");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
