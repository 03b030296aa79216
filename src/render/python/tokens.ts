import { type Span, stringAt } from "./strings.ts";

/**
 * `newline` ends a logical line, `space` is all other white space (line breaks inside brackets, continuations).
 * `magic` is the rest of a line that is not Python: `%time f()`, `!ls`, `name?`. `error` is a character or a string
 * that no Python accepts.
 */
export type TokenKind =
  | "keyword"
  | "name"
  | "number"
  | "string"
  | "comment"
  | "operator"
  | "space"
  | "newline"
  | "magic"
  | "error";

/** Positions are in the source; tokens cover it without gaps. `fields`: replacement fields of an f-string. */
export type Token = Span & { readonly kind: TokenKind; readonly fields?: readonly Span[] };

export type Tokens = {
  readonly tokens: readonly Token[];
  /** false when a bracket or string is open at the end, brackets do not match, or a token is an `error`. */
  readonly complete: boolean;
};

export const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

/** Python's own limit is 200. */
const MAX_DEPTH = 150;
const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

const SPACE = /[ \t\f\r]+|\\\r?\n/y;
const COMMENT = /#[^\n]*/y;
const NAME = /[\p{XID_Start}_]\p{XID_Continue}*/uy;
const NUMBER = /0[xX][\da-fA-F_]+|0[bBoO][\d_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?/y;
const OPERATOR = /\.\.\.|\*\*=?|\/\/=?|>>=?|<<=?|<>|!=|->|:=|[-+*/%@&|^=<>]=?|[~.,:;()[\]{}]/y;

/**
 * Splits Python source into tokens; never fails, whatever the text is. Line ends are `\n`.
 * It knows enough to find statements; it does not check grammar.
 */
export function tokenize(source: string): Tokens {
  return new Scanner(source).scan();
}

class Scanner {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  readonly #open: string[] = [];
  #position = 0;
  #complete = true;
  /** The last token of the logical line that is neither space nor comment. */
  #last = "";

  constructor(source: string) {
    this.#source = source;
  }

  scan(): Tokens {
    while (this.#position < this.#source.length) this.#next();
    const last = this.#tokens.at(-1);
    const continues = last?.kind === "space" && this.#source[last.start] === "\\";
    return { tokens: this.#tokens, complete: this.#complete && this.#open.length === 0 && !continues };
  }

  #next(): void {
    const char = this.#source[this.#position] ?? "";
    if (char === "\n") this.#lineBreak();
    else if (this.#take("space", SPACE) || this.#take("comment", COMMENT)) return;
    else if (this.#startsMagic(char)) this.#add("magic", this.#magicEnd());
    else if (this.#string() || this.#take("name", NAME)) return;
    else if (!this.#take("number", NUMBER) && !this.#take("operator", OPERATOR)) {
      this.#complete = false;
      this.#add("error", this.#position + (char >= "\ud800" && char <= "\udbff" ? 2 : 1));
    }
  }

  #lineBreak(): void {
    const ends = this.#open.length === 0 && this.#last !== "";
    this.#add(ends ? "newline" : "space", this.#position + 1);
    if (ends) this.#last = "";
  }

  /** Where Python cannot have `%`, `!` or `?`: at the start of a line, after `=`, and `?` anywhere. */
  #startsMagic(char: string): boolean {
    if (this.#open.length > 0 || !"%!?".includes(char)) return false;
    return char === "?" || this.#last === "" || (this.#last === "=" && this.#source[this.#position + 1] !== "=");
  }

  /** The end of the line, or of a later one where a backslash continues it. */
  #magicEnd(): number {
    let end = this.#position;
    do {
      end = this.#source.indexOf("\n", end + 1);
    } while (end >= 0 && this.#source[end - 1] === "\\");
    return end < 0 ? this.#source.length : end;
  }

  #string(): boolean {
    const literal = stringAt(this.#source, this.#position);
    if (literal === undefined) return false;
    this.#complete &&= literal.closed;
    this.#add(literal.closed ? "string" : "error", literal.end, literal.fields);
    return true;
  }

  #take(kind: TokenKind, pattern: RegExp): boolean {
    pattern.lastIndex = this.#position;
    const text = pattern.exec(this.#source)?.[0] ?? "";
    if (text === "") return false;
    if (kind === "operator") this.#bracket(text);
    this.#add(kind === "name" && KEYWORDS.has(text) ? "keyword" : kind, this.#position + text.length);
    return true;
  }

  #bracket(text: string): void {
    const closer = CLOSERS[text];
    if (closer !== undefined) this.#open.push(closer);
    else if (")]}".includes(text)) this.#complete &&= this.#open.pop() === text;
    this.#complete &&= this.#open.length <= MAX_DEPTH;
  }

  #add(kind: TokenKind, end: number, fields: readonly Span[] = []): void {
    const token = { kind, start: this.#position, end: Math.min(end, this.#source.length) };
    this.#tokens.push(fields.length > 0 ? { ...token, fields } : token);
    if (kind !== "space" && kind !== "comment") this.#last = this.#source.slice(token.start, token.end);
    this.#position = token.end;
  }
}
