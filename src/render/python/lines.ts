import { type Token, tokenize } from "./tokens.ts";

/** Whose names a line's own statements set. */
export type Scope = "module" | "class" | "function";

/** One statement line, which may span several lines of text, without comments and blank lines around it. */
export type LogicalLine = {
  /** Position of its first token. */
  readonly start: number;
  /** Position after its last token, without the comment and line break. */
  readonly end: number;
  /** The white space before it. */
  readonly indent: string;
  readonly scope: Scope;
  /** Without space, comments and the newline. */
  readonly tokens: readonly Token[];
  /** Index of the first token inside a one-line `def` or `class`; the number of tokens when there is none. */
  readonly body: number;
};

export type PythonSource = {
  readonly text: string;
  readonly lines: readonly LogicalLine[];
  readonly tokens: readonly Token[];
  /** false when the text cannot be Python: see `Tokens`. */
  readonly complete: boolean;
};

/** Finds the logical lines of Python source, whose line ends are `\n`. */
export function parseLines(text: string): PythonSource {
  const { tokens, complete } = tokenize(text);
  const lines: LogicalLine[] = [];
  const scopes: { readonly scope: Scope; readonly column: number }[] = [];
  let pending: Token[] = [];
  const finish = (): void => {
    const line = logicalLine(text, pending);
    pending = [];
    if (line === undefined) return;
    const column = columnOf(line.indent);
    while ((scopes.at(-1)?.column ?? -1) >= column) scopes.pop();
    lines.push({ ...line, scope: scopes.at(-1)?.scope ?? "module" });
    const opened = openedScope(text, line.tokens);
    if (opened !== undefined) scopes.push({ scope: opened, column });
  };
  for (const token of tokens) {
    if (token.kind === "newline") finish();
    else if (token.kind !== "space" && token.kind !== "comment") pending.push(token);
  }
  finish();
  return { text, lines, tokens, complete };
}

/** @returns The token's text. */
export function textOf(source: string, token: Token | undefined): string {
  return token === undefined ? "" : source.slice(token.start, token.end);
}

function logicalLine(source: string, tokens: readonly Token[]): Omit<LogicalLine, "scope"> | undefined {
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const lineStart = source.lastIndexOf("\n", first.start - 1) + 1;
  const before = source.slice(lineStart, first.start);
  const indent = /^[ \t\f]*$/.test(before) ? before : "";
  return { start: first.start, end: last.end, indent, tokens, body: bodyIndex(source, tokens) };
}

function openedScope(source: string, tokens: readonly Token[]): Scope | undefined {
  const [first, second] = [textOf(source, tokens[0]), textOf(source, tokens[1])];
  if (first === "def" || (first === "async" && second === "def")) return "function";
  return first === "class" ? "class" : undefined;
}

/** The index after the colon that ends the header of a `def` or `class`. */
function bodyIndex(source: string, tokens: readonly Token[]): number {
  if (openedScope(source, tokens) === undefined) return tokens.length;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const text = token.kind === "operator" ? textOf(source, token) : "";
    if (text !== "" && "([{".includes(text)) depth++;
    if (text !== "" && ")]}".includes(text)) depth--;
    if (text === ":" && depth === 0) return index + 1;
  }
  return tokens.length;
}

/** Tabs reach to the next multiple of 8, as Python counts. */
function columnOf(indent: string): number {
  let column = 0;
  for (const char of indent) column = char === "\t" ? (Math.floor(column / 8) + 1) * 8 : char === "\f" ? 0 : column + 1;
  return column;
}
