import { ConfigSyntaxError } from "./setup-text.ts";

/** JSON values as this program writes them. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A parsed value with the place of its text: `start` inclusive, `end` exclusive. */
export type JsonNode = { readonly start: number; readonly end: number } & (
  | { readonly type: "object"; readonly members: readonly JsonMember[] }
  | { readonly type: "array"; readonly items: readonly JsonItem[] }
  | { readonly type: "scalar"; readonly value: null | boolean | number | string }
);

/** `comma` is the offset of the comma that follows, where there is one. */
export type JsonItem = { readonly value: JsonNode; readonly comma?: number };
export type JsonMember = JsonItem & { readonly key: string; readonly start: number };

export type JsonOptions = {
  /** Accepts comments and trailing commas, as editors do. */
  readonly comments: boolean;
};

const MAX_DEPTH = 200;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

class JsonReader {
  readonly text: string;
  readonly options: JsonOptions;
  at = 0;

  constructor(text: string, options: JsonOptions) {
    this.text = text;
    this.options = options;
    if (text.startsWith("\uFEFF")) this.at = 1;
  }

  fail(what: string, at = this.at): never {
    throw new ConfigSyntaxError(what, this.text, at);
  }

  /** Passes blanks and comments. */
  skip(): void {
    for (;;) {
      while (/[ \t\r\n]/.test(this.text[this.at] ?? "")) this.at++;
      const two = this.text.slice(this.at, this.at + 2);
      if (two !== "//" && two !== "/*") return;
      if (!this.options.comments) this.fail("A comment, which this client's reader refuses,");
      const end = this.text.indexOf(two === "//" ? "\n" : "*/", this.at + 2);
      if (end === -1 && two === "/*") this.fail("A comment that is never closed");
      this.at = end === -1 ? this.text.length : end + (two === "//" ? 0 : 2);
    }
  }

  take(mark: string): boolean {
    if (this.text[this.at] !== mark) return false;
    this.at++;
    return true;
  }

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  string(): string {
    const start = this.at;
    const found = this.match(STRING);
    if (found === undefined) this.fail("A string that is not closed or has a bad escape", start);
    return JSON.parse(found) as string;
  }

  value(depth: number): JsonNode {
    if (depth > MAX_DEPTH) this.fail(`More than ${MAX_DEPTH} levels`);
    const start = this.at;
    const mark = this.text[start];
    if (mark === "{") return this.object(depth);
    if (mark === "[") return this.array(depth);
    if (mark === '"') return { type: "scalar", value: this.string(), start, end: this.at };
    const found = this.match(SCALAR);
    if (found === undefined)
      this.fail(start < this.text.length ? "No value" : "The end of the file instead of a value");
    return { type: "scalar", value: JSON.parse(found) as null | boolean | number, start, end: this.at };
  }

  /** Reads what follows an element: returns its comma's place, and whether the container is closed. */
  after(close: string): { comma?: number; closed: boolean } {
    this.skip();
    if (this.take(close)) return { closed: true };
    const comma = this.at;
    if (!this.take(",")) {
      this.fail(comma < this.text.length ? `Neither a comma nor ${close}` : `The end of the file instead of ${close}`);
    }
    this.skip();
    if (this.text[this.at] !== close) return { comma, closed: false };
    if (!this.options.comments) this.fail("A trailing comma, which this client's reader refuses,", comma);
    this.at++;
    return { comma, closed: true };
  }

  object(depth: number): JsonNode {
    const start = this.at++;
    const members: JsonMember[] = [];
    this.skip();
    let closed = this.take("}");
    while (!closed) {
      const keyStart = this.at;
      if (this.text[keyStart] !== '"') this.fail("No quoted key");
      const key = this.string();
      this.skip();
      if (!this.take(":")) this.fail(`No colon after ${JSON.stringify(key)}`);
      this.skip();
      const value = this.value(depth + 1);
      const { comma, closed: done } = this.after("}");
      members.push({ key, start: keyStart, value, ...(comma === undefined ? {} : { comma }) });
      closed = done;
    }
    return { type: "object", members, start, end: this.at };
  }

  array(depth: number): JsonNode {
    const start = this.at++;
    const items: JsonItem[] = [];
    this.skip();
    let closed = this.take("]");
    while (!closed) {
      const value = this.value(depth + 1);
      const { comma, closed: done } = this.after("]");
      items.push({ value, ...(comma === undefined ? {} : { comma }) });
      closed = done;
    }
    return { type: "array", items, start, end: this.at };
  }
}

/**
 * Parses JSON, or JSON with comments. Returns undefined for a text of blanks and comments only.
 * @throws ConfigSyntaxError that says what is wrong and where.
 */
export function parseJson(text: string, options: JsonOptions): JsonNode | undefined {
  const reader = new JsonReader(text, options);
  reader.skip();
  if (reader.at === text.length) return undefined;
  const node = reader.value(0);
  reader.skip();
  if (reader.at < text.length) reader.fail("Something after the end of the value");
  return node;
}

/** The plain value of a node; the last of two equal keys wins, as in every reader of JSON. */
export function toJson(node: JsonNode): Json {
  if (node.type === "scalar") return node.value;
  if (node.type === "array") return node.items.map((item) => toJson(item.value));
  return Object.fromEntries(node.members.map((member) => [member.key, toJson(member.value)]));
}

/** Two values are equal when they are of the same content, whatever the order of keys. */
export function sameJson(a: Json, b: Json): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a);
  const right = new Map(Object.entries(b));
  const same = (value: Json, other: Json | undefined) => other !== undefined && sameJson(value, other);
  return left.length === right.size && left.every(([key, value]) => same(value, right.get(key)));
}
