import { ConfigSyntaxError } from "./setup-text.ts";

/** Values as far as this program reads them; numbers, dates and flags stay as they are written. */
export type Toml = string | { readonly bare: string } | readonly Toml[] | TomlTable;
export type TomlTable = ReadonlyMap<string, Toml>;

/** `[path]` or `[[path]]`; `start` is the bracket, `end` the end of its line without the line break. */
export type TomlHeader = {
  readonly kind: "header";
  readonly path: readonly string[];
  readonly list: boolean;
  readonly start: number;
  readonly end: number;
};

/** `key = value` below `header`; a dotted key has several parts. */
export type TomlPair = {
  readonly kind: "pair";
  readonly header: TomlHeader | undefined;
  readonly key: readonly string[];
  readonly value: Toml;
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly end: number;
};

export type TomlStatement = TomlHeader | TomlPair;

const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BASIC =
  /"(?:[^"\\\u0000-\u0008\u000a-\u001f\u007f]|\\(?:[btnfre"\\]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))*"/y;
const LITERAL = /'[^'\u0000-\u0008\u000a-\u001f\u007f]*'/y;
const LONG_BASIC = /"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}/y;
const LONG_LITERAL = /'''(?:[^']|'{1,2}(?!'))*'{3,5}/y;
const SIMPLE =
  /(?:true|false|[+-]?(?:inf|nan)|\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?|0x[\da-fA-F_]+|0o[0-7_]+|0b[01_]+|[+-]?\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?)(?![\w.+:-])/y;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b" };
const MAX_DEPTH = 100;

function decodeEscapes(text: string): string {
  return text.replace(/\\(?:([btnfre"\\])|x(..)|u(.{4})|U(.{8})|[ \t]*\r?\n\s*)/g, (_, short, x, u, long) => {
    if (short !== undefined) return SHORT_ESCAPES[short] ?? short;
    const code = x ?? u ?? long;
    return code === undefined ? "" : String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
  });
}

class TomlReader {
  readonly text: string;
  at: number;

  constructor(text: string) {
    this.text = text;
    this.at = text.startsWith("\uFEFF") ? 1 : 0;
  }

  fail(what: string, at = this.at): never {
    throw new ConfigSyntaxError(what, this.text, at);
  }

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  take(mark: string): boolean {
    if (!this.text.startsWith(mark, this.at)) return false;
    this.at += mark.length;
    return true;
  }

  blanks(): void {
    this.match(/[ \t]*/y);
  }

  /** Passes blanks, line breaks and comments. */
  space(): void {
    this.match(/(?:[ \t]|\r?\n|#[^\n]*)*/y);
  }

  /** Passes what may end a statement's line; the line break itself is left. */
  lineEnd(what: string): void {
    this.match(/[ \t]*(?:#[^\r\n]*)?/y);
    if (this.at < this.text.length && !/^\r?\n/.test(this.text.slice(this.at, this.at + 2))) this.fail(what);
  }

  string(): string | undefined {
    const basic = this.match(LONG_BASIC);
    if (basic !== undefined) return decodeEscapes(basic.slice(3, -3).replace(/^\r?\n/, ""));
    const literal = this.match(LONG_LITERAL);
    if (literal !== undefined) return literal.slice(3, -3).replace(/^\r?\n/, "");
    if (/^("""|''')/.test(this.text.slice(this.at, this.at + 3))) this.fail("A string that is never closed");
    const quote = this.text[this.at];
    if (quote !== '"' && quote !== "'") return undefined;
    const found = this.match(quote === '"' ? BASIC : LITERAL);
    if (found === undefined) this.fail("A string that is not closed or has a bad escape");
    return quote === '"' ? decodeEscapes(found.slice(1, -1)) : found.slice(1, -1);
  }

  key(): string[] {
    const parts: string[] = [];
    do {
      this.blanks();
      const part = this.match(BARE_KEY) ?? this.string();
      if (part === undefined) this.fail("No key");
      parts.push(part);
      this.blanks();
    } while (this.take("."));
    return parts;
  }

  value(depth: number): Toml {
    if (depth > MAX_DEPTH) this.fail(`More than ${MAX_DEPTH} levels`);
    if (this.take("[")) return this.list(depth);
    if (this.take("{")) return this.inlineTable(depth);
    const string = this.string();
    if (string !== undefined) return string;
    const bare = this.match(SIMPLE);
    if (bare === undefined) this.fail("No value");
    return { bare };
  }

  list(depth: number): readonly Toml[] {
    const items: Toml[] = [];
    for (;;) {
      this.space();
      if (this.take("]")) return items;
      items.push(this.value(depth + 1));
      this.space();
      if (!this.take(",")) {
        if (!this.take("]")) this.fail("Neither a comma nor ]");
        return items;
      }
    }
  }

  inlineTable(depth: number): TomlTable {
    const table = new Map<string, Toml>();
    for (;;) {
      this.space();
      if (this.take("}")) return table;
      const start = this.at;
      const key = this.key();
      if (!this.take("=")) this.fail("No = after a key");
      this.blanks();
      if (!put(table, key, this.value(depth + 1))) this.fail(`The key ${key.join(".")} a second time`, start);
      this.space();
      if (!this.take(",")) {
        if (!this.take("}")) this.fail("Neither a comma nor }");
        return table;
      }
    }
  }

  header(): TomlHeader {
    const start = this.at;
    const list = this.take("[[");
    if (!list) this.take("[");
    const path = this.key();
    if (!this.take(list ? "]]" : "]")) this.fail(`A table's name without ${list ? "]]" : "]"}`);
    this.lineEnd("Something after a table's name");
    return { kind: "header", path, list, start, end: this.at };
  }

  pair(header: TomlHeader | undefined): TomlPair {
    const start = this.at;
    const key = this.key();
    if (!this.take("=")) this.fail("No = after a key");
    this.blanks();
    const valueStart = this.at;
    const value = this.value(0);
    const valueEnd = this.at;
    this.lineEnd("Something after a value");
    return { kind: "pair", header, key, value, start, valueStart, valueEnd, end: this.at };
  }
}

/** Puts a value below a dotted key; false when the key is taken. */
function put(table: Map<string, Toml>, key: readonly string[], value: Toml): boolean {
  const [first = "", ...rest] = key;
  const present = table.get(first);
  if (rest.length === 0) {
    if (present !== undefined) return false;
    table.set(first, value);
    return true;
  }
  if (present !== undefined && !(present instanceof Map)) return false;
  const inner = present instanceof Map ? present : new Map<string, Toml>();
  table.set(first, inner);
  return put(inner, rest, value);
}

/** Refuses a table or key that is there twice; lists of tables open a new scope each time. */
class Scopes {
  readonly #seen = new Set<string>();
  readonly #lists = new Map<string, number>();

  /** The path with the number of the list element that each part is in. */
  #scoped(path: readonly string[]): string {
    return path
      .map((part, index) => [part, this.#lists.get(JSON.stringify(path.slice(0, index + 1))) ?? 0])
      .join("\u0000");
  }

  /** False when this statement repeats an earlier one. */
  add(statement: TomlStatement): boolean {
    if (statement.kind === "header" && statement.list) {
      const path = JSON.stringify(statement.path);
      this.#lists.set(path, (this.#lists.get(path) ?? 0) + 1);
      return true;
    }
    const path = statement.kind === "header" ? statement.path : absolutePath(statement);
    const name = `${statement.kind}\u0000${this.#scoped(path)}`;
    if (this.#seen.has(name)) return false;
    this.#seen.add(name);
    return true;
  }
}

/** The full path of a pair. */
export function absolutePath(pair: TomlPair): readonly string[] {
  return [...(pair.header?.path ?? []), ...pair.key];
}

/**
 * Reads TOML into its statements, in order.
 * @throws ConfigSyntaxError that says what is wrong and where.
 */
export function parseToml(text: string): readonly TomlStatement[] {
  const reader = new TomlReader(text);
  const scopes = new Scopes();
  const statements: TomlStatement[] = [];
  let header: TomlHeader | undefined;
  for (;;) {
    reader.space();
    if (reader.at >= text.length) return statements;
    const statement = text[reader.at] === "[" ? reader.header() : reader.pair(header);
    if (!scopes.add(statement)) {
      const path = statement.kind === "header" ? statement.path : statement.key;
      reader.fail(
        `${statement.kind === "header" ? "The table" : "The key"} ${path.join(".")} a second time`,
        statement.start,
      );
    }
    if (statement.kind === "header") header = statement;
    statements.push(statement);
  }
}

/** Two values are equal when they are of the same content. */
export function sameToml(a: Toml, b: Toml): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameToml(item, b[index] ?? ""));
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && sameToml(value, b.get(key) ?? ""));
  }
  return "bare" in a && "bare" in b && a.bare === b.bare;
}
