import { textOf } from "../python/lines.ts";
import { type Token, tokenize } from "../python/tokens.ts";
import { textHtml } from "./escape.ts";

/** Longer code is shown without colours, to keep pages small. */
const MAX_CHARS = 200_000;

const CONSTANTS = new Set(["True", "False", "None", "NotImplemented", "Ellipsis", "__name__", "__file__"]);
const BUILTINS = new Set(
  (
    "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex delattr " +
    "dict dir divmod enumerate eval exec filter float format frozenset getattr globals hasattr hash help hex id input int " +
    "isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print property range " +
    "repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip BaseException Exception " +
    "ArithmeticError AssertionError AttributeError EOFError FileNotFoundError ImportError IndexError KeyError " +
    "KeyboardInterrupt LookupError MemoryError NameError NotImplementedError OSError OverflowError RecursionError " +
    "RuntimeError StopIteration SyntaxError SystemExit TimeoutError TypeError UnicodeError ValueError ZeroDivisionError"
  ).split(" "),
);

/** @returns Python code as HTML: spans of the classes `k c s f n d b v m x` of the stylesheet. Never fails. */
export function highlightPython(code: string): string {
  const source = code.replace(/\r\n?/g, "\n");
  if (source.length > MAX_CHARS) return textHtml(source);
  const { tokens } = tokenize(source);
  const context: Context = { source, tokens, before: "", lineStart: true, decorator: false };
  return tokens.map((token) => tokenHtml(token, context)).join("");
}

type Context = {
  readonly source: string;
  readonly tokens: readonly Token[];
  /** The last token that is neither space nor comment. */
  before: string;
  lineStart: boolean;
  decorator: boolean;
};

function tokenHtml(token: Token, context: Context): string {
  const text = textOf(context.source, token);
  if (token.kind === "space") return textHtml(text);
  const html = span(classOf(token, text, context), token.fields ? fieldsHtml(token, context.source) : textHtml(text));
  if (token.kind === "comment") return html;
  context.decorator = token.kind !== "newline" && (context.decorator || (context.lineStart && text === "@"));
  if (text === "(") context.decorator = false;
  context.lineStart = token.kind === "newline";
  context.before = text;
  return html;
}

function classOf(token: Token, text: string, context: Context): string {
  if (token.kind === "string" || (token.kind === "error" && text.length > 1)) return "s";
  if (token.kind === "error") return "x";
  if (token.kind === "comment") return "c";
  if (token.kind === "number") return "n";
  if (token.kind === "magic") return "m";
  if (token.kind === "keyword") return CONSTANTS.has(text) ? "v" : "k";
  if (context.decorator || (context.lineStart && text === "@")) return token.kind === "name" || text === "@" ? "d" : "";
  return token.kind === "name" ? nameClass(token, text, context) : "";
}

function nameClass(token: Token, text: string, { source, before, lineStart }: Context): string {
  if (before === "def" || before === "class") return "f";
  if (lineStart && isSoftKeyword(source, token, text)) return "k";
  if (before === ".") return "";
  if (CONSTANTS.has(text) || text === "self" || text === "cls") return "v";
  return BUILTINS.has(text) ? "b" : "";
}

/** `match x:`, `case 1:` and `type X = int` read as statements, `match = 1` does not. */
function isSoftKeyword(source: string, token: Token, text: string): boolean {
  if (text !== "match" && text !== "case" && text !== "type") return false;
  const end = source.indexOf("\n", token.end);
  const rest = source.slice(token.end, end < 0 ? Math.min(source.length, token.end + 500) : end);
  return text === "type" ? /^[ \t]+\w+\s*[[=]/.test(rest) : /^[ \t]*[^\s=.,:)\]][^#]*:/.test(rest);
}

/** An f-string whose fields stand out. */
function fieldsHtml(token: Token, source: string): string {
  let html = "";
  let from = token.start;
  for (const field of token.fields ?? []) {
    html += textHtml(source.slice(from, field.start)) + span("i", textHtml(source.slice(field.start, field.end)));
    from = field.end;
  }
  return html + textHtml(source.slice(from, token.end));
}

function span(name: string, html: string): string {
  return name === "" ? html : `<span class="${name}">${html}</span>`;
}
