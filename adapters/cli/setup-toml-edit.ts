import { applyEdits, ConfigShapeError, type Edit, lineEnd, placeOf, removeSpan } from "./setup-text.ts";
import {
  absolutePath,
  parseToml,
  sameToml,
  type Toml,
  type TomlHeader,
  type TomlPair,
  type TomlStatement,
} from "./setup-toml.ts";

function printString(text: string): string {
  // JSON's escapes are TOML's, but for the slash, which JSON.stringify leaves alone, and DEL, which TOML wants escaped.
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

function printKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : printString(key);
}

/** The value on one line. */
export function printToml(value: Toml): string {
  if (typeof value === "string") return printString(value);
  if (value instanceof Map) {
    const pairs = [...value].map(([key, item]: [string, Toml]) => `${printKey(key)} = ${printToml(item)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  if (Array.isArray(value)) return `[${value.map(printToml).join(", ")}]`;
  return "bare" in value ? value.bare : "";
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((part, index) => path[index] === part);
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && startsWith(a, b);
}

/** TOML text in which one table can be edited, with all else left as it stands. */
export class TomlText {
  #text: string;
  readonly #path: readonly string[];

  /**
   * @param path The table to edit; it need not be there yet.
   * @throws ConfigSyntaxError, or ConfigShapeError when the table is written in a way that leaves no safe edit.
   */
  constructor(text: string, path: readonly string[]) {
    this.#text = text;
    this.#path = path;
    this.#refuseOtherForms();
  }

  get text(): string {
    return this.#text;
  }

  #statements(): readonly TomlStatement[] {
    return parseToml(this.#text);
  }

  #headers(): readonly TomlHeader[] {
    return this.#statements().filter((statement) => statement.kind === "header");
  }

  #pairs(): readonly TomlPair[] {
    return this.#statements().filter((statement) => statement.kind === "pair");
  }

  /** The table, or one inside it, may also be written as dotted or inline keys elsewhere: those are not ours to rewrite. */
  #refuseOtherForms(): void {
    const where = (at: number) => `line ${placeOf(this.#text, at).line}`;
    for (const header of this.#headers()) {
      if (header.list && startsWith(this.#path, header.path)) {
        throw new ConfigShapeError(`${header.path.join(".")} is a list of tables (${where(header.start)})`);
      }
    }
    for (const pair of this.#pairs()) {
      const path = absolutePath(pair);
      const inside = pair.header !== undefined && startsWith(pair.header.path, this.#path);
      if (inside || !(startsWith(path, this.#path) || startsWith(this.#path, path))) continue;
      throw new ConfigShapeError(
        `${path.join(".")} is written as a key (${where(pair.start)}), not as a table of its own`,
      );
    }
  }

  /** The pairs below `key` in whichever of the ways TOML has: inline, dotted, or a table of its own. */
  #below(key: string): readonly TomlPair[] {
    return this.#pairs().filter((pair) => startsWith(absolutePath(pair), [...this.#path, key]));
  }

  /** True when the table has this key in any form. */
  has(key: string): boolean {
    const path = [...this.#path, key];
    return this.#below(key).length > 0 || this.#headers().some((header) => startsWith(header.path, path));
  }

  /** Sets `key` of the table; an equal value is left as it is written, and a table is merged into the present one. */
  set(key: string, value: Toml): void {
    const pair = this.#below(key).find((each) => samePath(absolutePath(each), [...this.#path, key]));
    if (value instanceof Map) {
      if (pair === undefined && this.has(key)) {
        for (const [name, item] of value) this.#setBelow(key, name, item);
        return;
      }
      const merged = new Map([...(pair?.value instanceof Map ? pair.value : []), ...value]);
      this.#put(pair, [key], merged);
      return;
    }
    this.#put(pair, [key], value);
  }

  /** Sets a key of a table inside ours that is written as dotted keys or under a header of its own. */
  #setBelow(key: string, name: string, value: Toml): void {
    const path = [...this.#path, key, name];
    const pair = this.#below(key).find((each) => samePath(absolutePath(each), path));
    const header = this.#headers().find((each) => samePath(each.path, path.slice(0, -1)));
    if (pair === undefined && header !== undefined) this.#insert(header, [name], value);
    else this.#put(pair, [key, name], value);
  }

  #put(pair: TomlPair | undefined, key: readonly string[], value: Toml): void {
    if (pair === undefined) {
      this.#insert(this.#ownHeader(), key, value);
      return;
    }
    if (sameToml(pair.value, value)) return;
    this.#apply([{ at: pair.valueStart, remove: pair.valueEnd - pair.valueStart, insert: printToml(value) }]);
  }

  /** The table's header, added at the end of the file when it is missing. */
  #ownHeader(): TomlHeader {
    const find = () => this.#headers().find((header) => samePath(header.path, this.#path));
    const present = find();
    if (present !== undefined) return present;
    const eol = lineEnd(this.#text);
    const body = this.#text.trimEnd();
    const gap = body === "" || body === "\uFEFF" ? "" : eol + eol;
    const line = `[${this.#path.map(printKey).join(".")}]`;
    this.#text = `${body}${gap}${line}${eol}`;
    const added = find();
    if (added === undefined) throw new ConfigShapeError(`The table ${this.#path.join(".")} could not be added`);
    return added;
  }

  /** Adds a pair after the last one directly below `header`. */
  #insert(header: TomlHeader, key: readonly string[], value: Toml): void {
    const own = this.#pairs().filter((pair) => pair.header?.start === header.start);
    const after = own.at(-1)?.end ?? header.end;
    const first = own[0];
    const indent =
      first === undefined ? "" : this.#text.slice(this.#text.lastIndexOf("\n", first.start - 1) + 1, first.start);
    const line = `${lineEnd(this.#text)}${indent}${key.map(printKey).join(".")} = ${printToml(value)}`;
    this.#apply([{ at: after, remove: 0, insert: line }]);
  }

  /** Removes `key` in whatever form it is written, with its table when it has one. */
  remove(key: string): void {
    const path = [...this.#path, key];
    const doomed = [...this.#below(key), ...this.#headers().filter((header) => startsWith(header.path, path))];
    this.#apply(doomed.map(({ start, end }) => removeSpan(this.#text, start, end)));
  }

  #apply(edits: readonly Edit[]): void {
    this.#text = applyEdits(this.#text, edits);
  }
}
