/** Where Python's string literals end, f-strings with nested quotes (3.12) included. */

/** Half-open range of positions in the source. */
export type Span = { readonly start: number; readonly end: number };

export type StringLiteral = {
  readonly end: number;
  /** Is the closing quote there? */
  readonly closed: boolean;
  /** Replacement fields of an f-string, braces included, outermost only. */
  readonly fields: readonly Span[];
};

const OPENING = /(?:[rR][bBfFtT]?|[bBfFtT][rR]?|[uU])?('''|"""|'|")/y;
/** Deeper nesting of f-strings than any Python accepts. */
const MAX_NESTING = 100;

/** @returns The literal that starts at `start`, or undefined when none does. Time is linear in its length. */
export function stringAt(source: string, start: number): StringLiteral | undefined {
  return literalAt(source, start, 0);
}

function literalAt(source: string, start: number, nesting: number): StringLiteral | undefined {
  OPENING.lastIndex = start;
  const match = OPENING.exec(source);
  if (match === null || nesting > MAX_NESTING) return undefined;
  const [opening, quote = ""] = match;
  const prefix = opening.slice(0, -quote.length).toLowerCase();
  const body = { source, quote, raw: prefix.includes("r"), nesting };
  const position = start + opening.length;
  return /[ft]/.test(prefix) ? formatted(body, position) : plain(body, position);
}

type Body = { readonly source: string; readonly quote: string; readonly raw: boolean; readonly nesting: number };

function plain({ source, quote }: Body, from: number): StringLiteral {
  for (let position = from; position < source.length; position++) {
    const char = source[position];
    if (char === "\\") position++;
    else if (char === "\n" && quote.length === 1) return { end: position, closed: false, fields: [] };
    else if (char === quote[0] && source.startsWith(quote, position)) {
      return { end: position + quote.length, closed: true, fields: [] };
    }
  }
  return { end: source.length, closed: false, fields: [] };
}

function formatted(body: Body, from: number): StringLiteral {
  const { source, quote, raw } = body;
  const fields: Span[] = [];
  let position = from;
  while (position < source.length) {
    const char = source[position];
    if (char === "\\") position = afterEscape(source, position, raw);
    else if (char === "\n" && quote.length === 1) return { end: position, closed: false, fields };
    else if (char === quote[0] && source.startsWith(quote, position)) {
      return { end: position + quote.length, closed: true, fields };
    } else if (char === "{" && source[position + 1] !== "{") {
      const end = fieldEnd(body, position);
      fields.push({ start: position, end });
      position = end;
    } else position += char === "{" ? 2 : 1;
  }
  return { end: source.length, closed: false, fields };
}

/** Braces after a backslash still open fields, except those of `\N{…}`. */
function afterEscape(source: string, position: number, raw: boolean): number {
  const next = source[position + 1];
  if (next === "{" || next === "}") return position + 1;
  if (raw || next !== "N" || source[position + 2] !== "{") return position + 2;
  const name = /[\w -]*\}?/y;
  name.lastIndex = position + 3;
  return position + 3 + (name.exec(source)?.[0].length ?? 0);
}

/** The position after the `}` of the field whose `{` is at `from`, or where the literal must end without it. */
function fieldEnd(body: Body, from: number, nesting = body.nesting + 1): number {
  const { source } = body;
  let depth = 0;
  let position = from + 1;
  while (position < source.length) {
    const char = source[position] ?? "";
    if (depth === 0 && char === "}") return position + 1;
    if (depth === 0 && char === ":") return specEnd(body, position + 1, nesting);
    if ("([{".includes(char)) depth++;
    if (")]}".includes(char)) depth = Math.max(0, depth - 1);
    if (/['"a-zA-Z]/.test(char)) {
      const literal = literalAt(source, position, nesting);
      if (literal?.closed === false) return literal.end;
      position = literal?.end ?? wordEnd(source, position);
    } else position = char === "#" ? lineEnd(source, position) : position + 1;
  }
  return source.length;
}

/** A format spec: text up to `}`, with fields of its own. */
function specEnd(body: Body, from: number, nesting: number): number {
  const { source, quote } = body;
  let position = from;
  while (position < source.length) {
    const char = source[position];
    if (char === "}") return position + 1;
    if (source.startsWith(quote, position) || (char === "\n" && quote.length === 1)) return position;
    position = char === "{" && nesting <= MAX_NESTING ? fieldEnd(body, position, nesting + 1) : position + 1;
  }
  return source.length;
}

/** Letters of a word must not be taken for the prefix of a string. */
function wordEnd(source: string, position: number): number {
  const word = /[\p{L}\p{N}_]+|./uy;
  word.lastIndex = position;
  return position + (word.exec(source)?.[0].length ?? 1);
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf("\n", from);
  return end < 0 ? source.length : end;
}
