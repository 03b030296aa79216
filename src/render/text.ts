/**
 * Makes a text that UTF-8 can hold: lone surrogates are written as Python's `backslashreplace` writes them (`\udead`),
 * because readers of JSON in other languages refuse them.
 */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** @returns The count with commas: `12,345`. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** @returns `1 block`, `2 blocks`, `1,234 blocks`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** @returns Lines without their ends, which may be those of any system. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

/** @returns The text without line breaks at its end. */
export function withoutEndBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}
