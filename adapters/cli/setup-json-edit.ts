import {
  type Json,
  type JsonMember,
  type JsonNode,
  type JsonOptions,
  parseJson,
  sameJson,
  toJson,
} from "./setup-json.ts";
import { applyEdits, ConfigShapeError, type Edit, indentAt, lineEnd, placeOf, removeSpan } from "./setup-text.ts";

type JsonObject = Extract<JsonNode, { type: "object" }>;
type Layout = { readonly eol: string; readonly unit: string };

const WIDE = 100;

/** The value as text, its later lines indented by `indent`. Short lists of plain values stay on one line. */
export function printJson(value: Json, layout: Layout, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const list: readonly Json[] | undefined = Array.isArray(value) ? value : undefined;
  const inner = indent + layout.unit;
  if (list?.every((item) => typeof item !== "object" || item === null)) {
    const line = `[${list.map((item) => JSON.stringify(item)).join(", ")}]`;
    if (line.length <= WIDE) return line;
  }
  const parts = list
    ? list.map((item) => printJson(item, layout, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printJson(item, layout, inner)}`);
  const [open, close] = list ? "[]" : "{}";
  if (parts.length === 0) return `${open}${close}`;
  return `${open}${layout.eol}${inner}${parts.join(`,${layout.eol}${inner}`)}${layout.eol}${indent}${close}`;
}

/** The value on one line, for files that are one line themselves. */
function printCompact(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(printCompact).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${printCompact(item)}`)
    .join(", ")}}`;
}

/** The blanks that the file itself uses for one level. */
function layoutOf(text: string): Layout {
  const unit = /^[ \t]+(?=["[{}\]])/m.exec(text)?.[0] ?? "  ";
  return { eol: lineEnd(text), unit: unit.startsWith("\t") ? "\t" : unit.slice(0, 8) };
}

/** What an insertion needs to know of an object's or list's elements. */
type Element = { readonly start: number; readonly end: number; readonly comma?: number };

/** How a new element reads: over several lines at an indentation, or on one line. */
type Printed = { readonly lines: (indent: string) => string; readonly line: string };

function elementsOf(node: JsonNode): readonly Element[] {
  const withComma = (comma: number | undefined) => (comma === undefined ? {} : { comma });
  if (node.type === "scalar") return [];
  if (node.type === "array") {
    return node.items.map(({ value, comma }) => ({ start: value.start, end: value.end, ...withComma(comma) }));
  }
  return node.members.map(({ start, value, comma }) => ({ start, end: value.end, ...withComma(comma) }));
}

/** The end of the comments that follow `at` on its line: they belong to what is before them. */
function pastComments(text: string, at: number): number {
  let end = at;
  for (;;) {
    const next = /^[ \t]*(\/\/[^\r\n]*|\/\*)?/.exec(text.slice(end)) ?? [""];
    if (next[1] === undefined) return end;
    if (next[1] !== "/*") return end + next[0].length;
    end = text.indexOf("*/", end + next[0].length) + 2;
  }
}

/** Adds the first element of a container that holds nothing but blanks or comments. */
function fillEmpty(text: string, node: JsonNode, layout: Layout, printed: Printed): Edit {
  const outer = indentAt(text, node.start);
  const indent = outer + layout.unit;
  const kept = text.slice(node.start + 1, node.end - 1).trimEnd();
  const insert = `${kept}${layout.eol}${indent}${printed.lines(indent)}${layout.eol}${outer}`;
  return { at: node.start + 1, remove: node.end - node.start - 2, insert };
}

/** Adds an element at the end of a container, in the way the container is written. */
function appendTo(text: string, node: JsonNode, layout: Layout, printed: Printed): Edit[] {
  const elements = elementsOf(node);
  const [first, last] = [elements[0], elements.at(-1)];
  if (first === undefined || last === undefined) return [fillEmpty(text, node, layout, printed)];
  const [comma, tail] = last.comma === undefined ? [",", ""] : ["", ","];
  const past = last.comma === undefined ? last.end : last.comma + 1;
  if (!text.slice(node.start, node.end).includes("\n")) {
    return [{ at: past, remove: 0, insert: `${comma} ${printed.line}${tail}` }];
  }
  const outer = indentAt(text, node.start);
  const own = text.slice(text.lastIndexOf("\n", first.start - 1) + 1, first.start);
  const indent = own.trim() === "" ? own : outer + layout.unit;
  const after = pastComments(text, past);
  const rest = text.slice(after, node.end - 1);
  const closesHere = /^[ \t]*$/.test(rest);
  const insert = layout.eol + indent + printed.lines(indent) + tail + (closesHere ? layout.eol + outer : "");
  // In this order: both may be at one place, and the comma comes first there.
  return [
    { at: after, remove: closesHere ? rest.length : 0, insert },
    { at: last.end, remove: 0, insert: comma },
  ];
}

function kindOf(node: JsonNode): string {
  if (node.type !== "scalar") return node.type === "array" ? "a list" : "an object";
  return node.value === null ? "null" : `a ${typeof node.value}`;
}

function memberOf(text: string, object: JsonObject, key: string): JsonMember | undefined {
  const found = object.members.filter((member) => member.key === key);
  if (found.length < 2) return found[0];
  const lines = found.map((member) => placeOf(text, member.start).line).join(" and ");
  throw new ConfigShapeError(`${JSON.stringify(key)} is there more than once (lines ${lines})`);
}

function asObject(text: string, node: JsonNode, what: string): JsonObject {
  if (node.type === "object") return node;
  const { line } = placeOf(text, node.start);
  throw new ConfigShapeError(`${what} is ${kindOf(node)} where an object belongs (line ${line})`);
}

/** Follows `path` as far as the file has it: returns the last object on the way and the keys that are missing below. */
function descend(
  text: string,
  root: JsonNode,
  path: readonly string[],
): { object: JsonObject; rest: readonly string[] } {
  let object = asObject(text, root, "The top level");
  for (const [index, key] of path.entries()) {
    const member = memberOf(text, object, key);
    if (member === undefined) return { object, rest: path.slice(index) };
    object = asObject(text, member.value, JSON.stringify(key));
  }
  return { object, rest: [] };
}

function nest(keys: readonly string[], value: Json): Json {
  return keys.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
}

/** JSON text that can be edited one value at a time, with all else left as it stands. */
export class JsonText {
  #text: string;
  readonly #options: JsonOptions;

  /** @throws ConfigSyntaxError */
  constructor(text: string, options: JsonOptions) {
    this.#options = options;
    const empty = parseJson(text, options) === undefined;
    const before = text.trimEnd();
    this.#text = empty
      ? `${before}${before === "" || before === "\uFEFF" ? "" : lineEnd(text)}{}${lineEnd(text)}`
      : text;
  }

  get text(): string {
    return this.#text;
  }

  #root(): JsonNode {
    const root = parseJson(this.#text, this.#options);
    if (root === undefined) throw new ConfigShapeError("The file has no value");
    return root;
  }

  /** The value at `path` (the whole file's for no path), or undefined. @throws ConfigShapeError when something on the way is no object. */
  get(path: readonly string[]): Json | undefined {
    const key = path.at(-1);
    if (key === undefined) return toJson(this.#root());
    const { object, rest } = descend(this.#text, this.#root(), path.slice(0, -1));
    const member = rest.length > 0 ? undefined : memberOf(this.#text, object, key);
    return member && toJson(member.value);
  }

  /** Sets the value at `path`, making what is missing; an equal value is left as it is written. @throws ConfigShapeError */
  set(path: readonly string[], value: Json): void {
    const layout = layoutOf(this.#text);
    const key = path.at(-1) ?? "";
    const { object, rest } = descend(this.#text, this.#root(), path.slice(0, -1));
    const member = rest.length > 0 ? undefined : memberOf(this.#text, object, key);
    if (member !== undefined) {
      if (sameJson(toJson(member.value), value)) return;
      const { start, end } = member.value;
      const insert = printJson(value, layout, indentAt(this.#text, member.start));
      this.#apply([{ at: start, remove: end - start, insert }]);
      return;
    }
    const [first = key, ...more] = rest.length > 0 ? [...rest, key] : [key];
    const whole = nest(more, value);
    const name = JSON.stringify(first);
    const lines = (indent: string) => `${name}: ${printJson(whole, layout, indent)}`;
    this.#apply(appendTo(this.#text, object, layout, { lines, line: `${name}: ${printCompact(whole)}` }));
  }

  /** Adds to the list at `path`, made when missing. @throws ConfigShapeError when there is something else. */
  append(path: readonly string[], value: Json): void {
    const { object, rest } = descend(this.#text, this.#root(), path.slice(0, -1));
    const member = rest.length > 0 ? undefined : memberOf(this.#text, object, path.at(-1) ?? "");
    if (member === undefined) {
      this.set(path, [value]);
      return;
    }
    if (member.value.type !== "array") {
      throw new ConfigShapeError(`${JSON.stringify(member.key)} is ${kindOf(member.value)} where a list belongs`);
    }
    const layout = layoutOf(this.#text);
    const lines = (indent: string) => printJson(value, layout, indent);
    this.#apply(appendTo(this.#text, member.value, layout, { lines, line: printCompact(value) }));
  }

  /** Removes the member at `path`, if it is there. */
  remove(path: readonly string[]): void {
    const { object, rest } = descend(this.#text, this.#root(), path.slice(0, -1));
    const key = path.at(-1) ?? "";
    const member = rest.length > 0 ? undefined : memberOf(this.#text, object, key);
    if (member === undefined) return;
    const index = object.members.indexOf(member);
    const before = object.members[index - 1];
    const isLast = index === object.members.length - 1;
    const end = member.comma === undefined ? member.value.end : member.comma + 1;
    const edits = [removeSpan(this.#text, member.start, end)];
    if (isLast && member.comma === undefined && before?.comma !== undefined) {
      edits.push({ at: before.comma, remove: 1, insert: "" });
    }
    this.#apply(edits);
  }

  #apply(edits: readonly Edit[]): void {
    this.#text = applyEdits(this.#text, edits);
  }
}
