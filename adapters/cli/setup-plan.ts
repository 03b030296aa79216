import type { ClientFile } from "./clients/types.ts";
import { type Entry, TRANSPORT_KEYS } from "./setup-entry.ts";
import { type Json, sameJson } from "./setup-json.ts";
import { JsonText, printJson } from "./setup-json-edit.ts";
import { ConfigShapeError } from "./setup-text.ts";
import { parseToml, type Toml } from "./setup-toml.ts";
import { TomlText } from "./setup-toml-edit.ts";

type Kind = keyof typeof TRANSPORT_KEYS;

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What has to go from a present entry because it reaches its server in the other way. */
function staleKeys(entry: Entry, has: (key: string) => boolean): readonly string[] {
  const other: Kind = "command" in entry.value ? "url" : "command";
  const stale = TRANSPORT_KEYS[other].filter(has);
  return stale.length === 0 ? [] : [...stale, "transport", ...(entry.value.type === undefined ? ["type"] : [])];
}

function planJson(text: string, file: ClientFile, name: string, entry: Entry): string {
  const json = new JsonText(text, { comments: file.comments });
  const path = [...file.path, name];
  const present = json.get(path);
  if (isObject(present)) {
    for (const key of staleKeys(entry, (key) => key in present)) json.remove([...path, key]);
    for (const [key, value] of Object.entries(entry.value)) {
      // Variables and headers that a person added stay beside ours.
      if (isObject(value) && isObject(json.get([...path, key]))) {
        for (const [inner, item] of Object.entries(value)) json.set([...path, key, inner], item);
      } else json.set([...path, key], value);
    }
  } else json.set(path, entry.value);
  if (entry.input !== undefined) {
    const inputs = json.get(["inputs"]);
    const known = Array.isArray(inputs) && inputs.some((input) => isObject(input) && input.id === entry.input?.id);
    if (!known) json.append(["inputs"], entry.input);
  }
  return json.text;
}

function tomlOf(value: Json): Toml {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(tomlOf);
  if (isObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key, tomlOf(item)]));
  return { bare: String(value) };
}

function planToml(text: string, file: ClientFile, name: string, entry: Entry): string {
  const toml = new TomlText(text, [...file.path, name]);
  for (const key of staleKeys(entry, (key) => toml.has(key))) toml.remove(key);
  for (const [key, value] of Object.entries(entry.value)) toml.set(key, tomlOf(value));
  return toml.text;
}

/** All that the file says, less the entry and what an entry may bring with it. */
function others(text: string, file: ClientFile, name: string): Json {
  if (file.format === "toml") {
    const own = JSON.stringify([...file.path, name]).slice(0, -1);
    return parseToml(text).flatMap((statement) => {
      const base = statement.kind === "header" ? [] : (statement.header?.path ?? []);
      const path = JSON.stringify([...base, ...(statement.kind === "header" ? statement.path : statement.key)]);
      if (path.startsWith(`${own}]`) || path.startsWith(`${own},`)) return [];
      const end = statement.kind === "pair" ? statement.valueEnd : statement.end;
      return [`${path} ${text.slice(statement.start, end)}`];
    });
  }
  const json = new JsonText(text, { comments: file.comments });
  json.remove([...file.path, name]);
  const rest = json.get([]);
  return isObject(rest) ? without(without(rest, file.path), ["inputs"]) : (rest ?? null);
}

/** A copy without the member at `path` when that member holds nothing, so that making it counts as no change. */
function without(value: Json, path: readonly string[]): Json {
  const [key = "", ...more] = path;
  if (!isObject(value) || !(key in value)) return value;
  const { [key]: inner, ...rest } = value;
  if (inner === undefined) return rest;
  const left = more.length > 0 ? without(inner, more) : inner;
  const empty = key === "inputs" || (isObject(left) && Object.keys(left).length === 0);
  return empty ? rest : { ...rest, [key]: left };
}

/**
 * Returns the file's text with the entry in it, changed as little as can be; the same text when it is there already.
 * @throws ConfigSyntaxError, ConfigShapeError
 */
export function planFile(text: string, file: ClientFile, name: string, entry: Entry): string {
  const plan = file.format === "toml" ? planToml : planJson;
  const planned = plan(text, file, name, entry);
  // The promise of this command, checked on every run: nothing but the entry has changed.
  if (
    !sameJson(others(text, file, name), others(planned, file, name)) ||
    plan(planned, file, name, entry) !== planned
  ) {
    throw new ConfigShapeError("The file is laid out in a way that this program cannot edit safely");
  }
  return planned;
}

/** The entry alone, as a file that holds nothing else. */
export function printEntry(file: ClientFile, name: string, entry: Entry): string {
  if (file.format === "toml") return planToml("", file, name, entry);
  const inner = file.path.reduceRight<Json>((value, key) => ({ [key]: value }), { [name]: entry.value });
  const whole: Json = { ...(entry.input && { inputs: [entry.input] }), ...(inner as Record<string, Json>) };
  return `${printJson(whole, { eol: "\n", unit: "  " })}\n`;
}
