import { AppError } from "./errors.ts";
import { skipMarker } from "./requirement-marker.ts";
import { shorten } from "./shorten.ts";

export type RequirementOptions = {
  /** Also accept `name @ https://…` and bare URLs such as `git+https://…`. */
  readonly allowUrls: boolean;
};

const MAX_TEXT = 10_000;
const MAX_COUNT = 100;

const NAME = /[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/y;
const EXTRAS = /\[\s*(?:[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:,\s*[A-Za-z0-9][A-Za-z0-9._-]*\s*)*)?\]/y;
const VERSION = /(?:===\s*[A-Za-z0-9_.*+!-]+|(?:==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9_.*+!-]+)/y;
const OPERATOR = /\s*[=~!<>]/y;
const URL_TEXT = /[A-Za-z][A-Za-z0-9+.-]*:\/\/[A-Za-z0-9\-._~:/?#[\]@!&()*+,;=%]+/y;
const SCHEME = /[A-Za-z][A-Za-z0-9+.-]*:\/\//y;
const BLANK = /\s*/y;
const ARCHIVE = /\.(?:whl|zip|egg|tgz|tbz|txz|tlz|tar(?:\.(?:gz|bz2|xz|lz|lzma))?)$/i;

/**
 * Splits text into PEP 508 requirements, each in a form without needless blanks that is safe as one argument.
 * Requirements are separated by blanks, commas or newlines; each may stand in quotes, as typed in a shell.
 * @throws AppError INVALID_REQUIREMENT, naming the value, for anything else: options, paths, URLs that are not allowed.
 */
export function parseRequirements(text: string, options: RequirementOptions): string[] {
  if (text.length > MAX_TEXT) {
    throw invalid(`The requirements are ${text.length} characters long; give at most ${MAX_TEXT}`);
  }
  const cursor = new Cursor(text);
  const found: string[] = [];
  for (cursor.skipSeparators(); !cursor.atEnd(); cursor.separate()) {
    found.push(readQuoted(cursor, options));
    if (found.length > MAX_COUNT)
      throw invalid(`More than ${MAX_COUNT} requirements; give at most ${MAX_COUNT} at once`);
  }
  if (found.length === 0) throw invalid("No requirement was given; name a package, for example numpy");
  return found;
}

/** Is the text what `parseRequirements` returned for one requirement? */
export function isRequirement(text: string): boolean {
  try {
    const [parsed, ...more] = parseRequirements(text, { allowUrls: true });
    return parsed === text && more.length === 0;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** A place in the text; `take` moves on past what a sticky pattern matches there. */
class Cursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  peek(): string {
    return this.text[this.at] ?? "";
  }

  atEnd(): boolean {
    return this.at >= this.text.length;
  }

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text)?.[0];
    if (match !== undefined) this.at += match.length;
    return match;
  }

  sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  skipSeparators(): void {
    this.take(/[\s,]*/y);
  }

  /** Between two requirements there must be a blank or a comma. */
  separate(): void {
    const start = this.at;
    this.skipSeparators();
    if (this.at === start && !this.atEnd()) throw this.refuse(start);
  }

  /** Names the word around `at`. */
  refuse(at: number): AppError {
    const head = /\S*$/.exec(this.text.slice(0, at))?.[0] ?? "";
    const word = head + (/^\S*/.exec(this.text.slice(at))?.[0] ?? "");
    return invalid(explain(word === "" ? this.text.trim() : word));
  }
}

function readQuoted(cursor: Cursor, options: RequirementOptions): string {
  const quote = cursor.peek();
  if (quote !== '"' && quote !== "'") return readRequirement(cursor, options);
  const start = cursor.at;
  cursor.at += 1;
  cursor.take(BLANK);
  const requirement = readRequirement(cursor, options);
  cursor.take(BLANK);
  if (cursor.peek() !== quote) throw cursor.refuse(start);
  cursor.at += 1;
  return requirement;
}

function readRequirement(cursor: Cursor, options: RequirementOptions): string {
  const start = cursor.at;
  if (cursor.sees(SCHEME)) return readUrl(cursor, options);
  const name = cursor.take(NAME);
  if (name === undefined || ARCHIVE.test(name)) throw cursor.refuse(start);
  const extras = takeAfterBlank(cursor, EXTRAS)?.replace(/\s+/g, "") ?? "";
  if (takeAfterBlank(cursor, /@/y)) {
    cursor.take(BLANK);
    return `${name}${extras} @ ${readUrl(cursor, options)}${readMarker(cursor, " ")}`;
  }
  return `${name}${extras}${readVersions(cursor)}${readMarker(cursor, "")}`;
}

/** `>=1,<2` or `(>=1, <2)`. A comma belongs to the versions only when a comparison follows it. */
function readVersions(cursor: Cursor): string {
  const parenthesised = takeAfterBlank(cursor, /\(/y) !== undefined;
  const versions: string[] = [];
  while (parenthesised || versions.length === 0 ? cursor.sees(OPERATOR) : cursor.sees(/\s*,\s*[=~!<>]/y)) {
    cursor.take(/\s*,?\s*/y);
    const version = cursor.take(VERSION);
    if (version === undefined) throw cursor.refuse(cursor.at);
    versions.push(version.replace(/\s+/g, ""));
    if (parenthesised) cursor.take(/\s*(?:,(?=\s*[=~!<>]))?/y);
  }
  if (parenthesised && (versions.length === 0 || !takeAfterBlank(cursor, /\)/y))) throw cursor.refuse(cursor.at);
  return versions.join(",");
}

function readMarker(cursor: Cursor, before: string): string {
  if (takeAfterBlank(cursor, /;/y) === undefined) return "";
  cursor.take(BLANK);
  const start = cursor.at;
  const end = skipMarker(cursor.text, start);
  if (end === undefined) throw cursor.refuse(start);
  cursor.at = end;
  return `${before}; ${cursor.text.slice(start, end).trim().replace(/\s+/g, " ")}`;
}

function readUrl(cursor: Cursor, options: RequirementOptions): string {
  const start = cursor.at;
  const url = cursor.take(URL_TEXT);
  // A revision or path that begins with a dash would be read as an option by the version control program.
  if (url === undefined || !options.allowUrls || /[@/]-/.test(url)) throw cursor.refuse(start);
  return url;
}

function takeAfterBlank(cursor: Cursor, pattern: RegExp): string | undefined {
  const start = cursor.at;
  cursor.take(BLANK);
  const match = cursor.take(pattern);
  if (match === undefined) cursor.at = start;
  return match;
}

function invalid(message: string): AppError {
  return new AppError("INVALID_REQUIREMENT", message);
}

const WANTED = "give names with optional extras and versions, such as pandas==2.0.0 or httpx[http2]>=0.27";

function explain(word: string): string {
  const shown = JSON.stringify(shorten(word));
  if (word.startsWith("-")) return `${shown} is an option, which is not allowed; ${WANTED}`;
  if (word.includes("://")) return `${shown} is a URL, which is not allowed here; ${WANTED}`;
  if (/^[./~\\]|[/\\]/.test(word) || ARCHIVE.test(word)) {
    return `${shown} is a path, which is not allowed; ${WANTED}`;
  }
  return `${shown} is not a requirement; ${WANTED}`;
}
