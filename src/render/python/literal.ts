/** @returns A Python string literal of the text on one line, ASCII except for printable characters. */
export function quoted(text: string): string {
  const body = text.replace(
    /[\\'\p{C}\p{Zl}\p{Zp}]/gu,
    (char) => ESCAPES[char] ?? codeEscape(char.codePointAt(0) ?? 0),
  );
  return `'${body}'`;
}

/** @returns A literal of source that stays readable: raw and in three quotes where it can be, else a line each. */
export function sourceLiteral(source: string): string {
  for (const quote of ["'''", '"""']) if (!source.includes(quote)) return `r${quote}\n${source}\n${quote}`;
  const lines = source.split("\n").map((line) => `    ${quoted(`${line}\n`)}\n`);
  return `(\n${lines.join("")})`;
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r" };

function codeEscape(code: number): string {
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
