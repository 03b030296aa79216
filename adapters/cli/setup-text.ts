/** A configuration file is not what its format allows. `line` and `column` start at 1. */
export class ConfigSyntaxError extends Error {
  override readonly name = "ConfigSyntaxError";
  readonly line: number;
  readonly column: number;

  constructor(what: string, text: string, offset: number) {
    const { line, column } = placeOf(text, offset);
    super(`${what} at line ${line}, column ${column}`);
    this.line = line;
    this.column = column;
  }
}

/** A well-formed file whose shape leaves no place for an entry. */
export class ConfigShapeError extends Error {
  override readonly name = "ConfigShapeError";
}

export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - (before.lastIndexOf("\n") + 1) + 1 };
}

/** `remove` characters at `at` give way to `insert`. */
export type Edit = { readonly at: number; readonly remove: number; readonly insert: string };

/** Applies edits that do not overlap, in any order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  return [...edits]
    .sort((a, b) => b.at - a.at)
    .reduce((result, edit) => result.slice(0, edit.at) + edit.insert + result.slice(edit.at + edit.remove), text);
}

export function lineEnd(text: string): "\r\n" | "\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** The blanks at the start of the line that `offset` is in. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

/** Widens a removal to its whole line when nothing else is left on it. */
export function removeSpan(text: string, from: number, to: number): Edit {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const stop = text.indexOf("\n", to);
  const end = stop === -1 ? text.length : stop + 1;
  const alone = text.slice(start, from).trim() === "" && text.slice(to, end).trim() === "";
  return alone ? { at: start, remove: end - start, insert: "" } : { at: from, remove: to - from, insert: "" };
}
