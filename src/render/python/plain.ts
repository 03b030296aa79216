import { type LogicalLine, type PythonSource, parseLines, textOf } from "./lines.ts";

/** A block as it can stand in a file among other blocks. */
export type PlainBlock = {
  readonly text: string;
  /** What it imports `from __future__`, such as `annotations`: to be imported first in the file. */
  readonly futures: readonly string[];
  /** Does it need a running event loop, because it awaits or makes tasks at its top level? */
  readonly needsLoop: boolean;
};

type Edit = { readonly start: number; readonly end: number; readonly text: string };

/** Cell magics under which the rest of the block is still Python that set names. */
const PYTHON_CELL_MAGIC = /^%%(?:time|capture)\b/;
/** A line magic in front of a statement that ran. */
const STATEMENT_MAGIC = /^%time\s+(?=\S)/;

/**
 * Turns the code of a block into plain Python: uniform indentation removed, magics as comments, module-level `global`
 * (an error after the name was used earlier in the file) as `pass`, future imports taken out.
 * @returns undefined when the text cannot be Python.
 */
export function plainBlock(code: string): PlainBlock | undefined {
  const source = parseLines(dedented(normalized(code)));
  const [cellMagic] = source.lines;
  const first = textOf(source.text, cellMagic?.tokens[0]);
  if (first.startsWith("%%") && !PYTHON_CELL_MAGIC.test(first)) {
    return { text: commented(source.text), futures: [], needsLoop: false };
  }
  if (!source.complete) return undefined;
  const futures = source.lines.map((line) => futureImports(source, line));
  const needsLoop = makesTasks(source) || source.lines.some((line) => hasAwait(source, line));
  const edits = source.lines.flatMap((line, index) => {
    const magic = magicEdit(source, line);
    if (magic !== undefined) return [magic];
    return [...globalEdits(source, line), ...(needsLoop ? [] : (futures[index] ?? []))];
  });
  return {
    text: edited(source.text, edits),
    futures: needsLoop ? [] : futures.flat().flatMap(({ features }) => features),
    needsLoop,
  };
}

/** @returns The text as a comment, line by line. */
export function commented(text: string): string {
  const lines = normalized(text).replaceAll("\0", "\\0").split("\n");
  return lines.map((line) => `# ${line}`.trimEnd()).join("\n");
}

/** Line ends as `\n`, no byte order mark. */
function normalized(code: string): string {
  return code.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
}

/** Removes the indentation of the first statement from all lines, except inside strings. */
function dedented(text: string): string {
  const { lines, tokens } = parseLines(text);
  const indent = lines[0]?.indent ?? "";
  if (indent === "") return text;
  const inside = tokens.filter((token) => token.kind === "string" && text.slice(token.start, token.end).includes("\n"));
  const edits: Edit[] = [];
  let string = 0;
  for (let start = 0; start < text.length; ) {
    while ((inside[string]?.end ?? text.length) <= start) string++;
    const inString = (inside[string]?.start ?? text.length) < start;
    if (!inString && text.startsWith(indent, start)) edits.push({ start, end: start + indent.length, text: "" });
    const lineBreak = text.indexOf("\n", start);
    start = lineBreak < 0 ? text.length : lineBreak + 1;
  }
  return edited(text, edits);
}

function edited(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const edit of edits) {
    parts.push(text.slice(from, edit.start), edit.text);
    from = edit.end;
  }
  return parts.join("") + text.slice(from);
}

function magicEdit({ text }: PythonSource, line: LogicalLine): Edit | undefined {
  if (!line.tokens.some((token) => token.kind === "magic")) return undefined;
  const whole = text.slice(line.start, line.end);
  const timed = STATEMENT_MAGIC.exec(whole)?.[0];
  const statement = timed === undefined ? undefined : parseLines(whole.slice(timed.length));
  if (statement?.complete && !statement.tokens.some((token) => token.kind === "magic")) {
    return { start: line.start, end: line.end, text: whole.slice(timed?.length) };
  }
  const comment = commented(whole);
  return { start: line.start, end: line.end, text: line.indent === "" ? comment : `pass  ${comment}` };
}

type FutureImport = Edit & { readonly features: readonly string[] };

/** The future imports with which a line starts. */
function futureImports({ text }: PythonSource, line: LogicalLine): FutureImport[] {
  const imports: FutureImport[] = [];
  let rest = line.tokens;
  while (line.scope === "module" && rest.length > 3) {
    const [from, module, word] = rest.slice(0, 3).map((token) => textOf(text, token));
    if (from !== "from" || module !== "__future__" || word !== "import") break;
    const semicolon = rest.findIndex((token) => textOf(text, token) === ";");
    const statement = semicolon < 0 ? rest : rest.slice(0, semicolon);
    const words = statement.slice(3).map((token) => textOf(text, token));
    const features = words
      .join(" ")
      .replace(/[()]/g, "")
      .split(",")
      .map((feature) => feature.trim());
    const start = rest[0]?.start ?? line.start;
    rest = semicolon < 0 ? [] : rest.slice(semicolon + 1);
    imports.push({ start, end: rest[0]?.start ?? line.end, text: "", features: features.filter(Boolean) });
  }
  return imports;
}

function globalEdits({ text }: PythonSource, line: LogicalLine): Edit[] {
  if (line.scope !== "module") return [];
  return line.tokens.slice(0, line.body).flatMap((token, index, tokens) => {
    if (token.kind !== "keyword" || textOf(text, token) !== "global") return [];
    const semicolon = tokens.findIndex((other, at) => at > index && textOf(text, other) === ";");
    const last = tokens[(semicolon < 0 ? tokens.length : semicolon) - 1] ?? token;
    return [{ start: token.start, end: last.end, text: "pass" }];
  });
}

const TASK_MAKERS = new Set(["create_task", "ensure_future", "get_running_loop", "current_task"]);
const LOOP_STARTERS = new Set(["run", "run_until_complete", "run_forever", "Runner", "new_event_loop"]);

/** The session runs such code in its loop even when it does not await; not when it starts a loop of its own. */
function makesTasks({ text, lines }: PythonSource): boolean {
  const own = lines.filter(({ scope }) => scope === "module").flatMap(({ tokens, body }) => tokens.slice(0, body));
  const names = new Set(own.filter(({ kind }) => kind === "name").map((token) => textOf(text, token)));
  const has = (words: ReadonlySet<string>): boolean => [...words].some((word) => names.has(word));
  return names.has("asyncio") && has(TASK_MAKERS) && !has(LOOP_STARTERS);
}

/** Does a line await outside of every function? Also true for the words inside an f-string of it, to be safe. */
function hasAwait({ text }: PythonSource, line: LogicalLine): boolean {
  if (line.scope === "function") return false;
  return line.tokens.slice(0, line.body).some((token, index, tokens) => {
    const word = textOf(text, token);
    if (token.fields?.some((field) => /\b(?:await|async)\b/.test(text.slice(field.start, field.end)))) return true;
    if (token.kind !== "keyword") return false;
    return word === "await" || (word === "async" && textOf(text, tokens[index + 1]) !== "def");
  });
}
