import type { Block } from "../../core/session.ts";
import { quoted, sourceLiteral } from "../python/literal.ts";
import { commented, plainBlock } from "../python/plain.ts";
import { wellFormed } from "../text.ts";
import type { Entry } from "../transcript.ts";

export type ScriptOptions = {
  /** Keep blocks that did not end well; those that cannot be compiled are kept as comments. Default false. */
  readonly includeFailed?: boolean;
};

export type Script = {
  readonly text: string;
  /** Blocks that stand in the script. */
  readonly saved: number;
  /** Blocks left out because they failed. */
  readonly skipped: number;
};

/**
 * The code of blocks as one Python file that compiles and sets the same names as the session did.
 * Files are run from where they lie; a block that awaits at its top level runs on one event loop, from its source.
 */
export function scriptOf(entries: readonly Entry[], options: ScriptOptions = {}): Script {
  const chosen = entries.filter(({ block }) => block.status === "ok" || options.includeFailed === true);
  const pieces = chosen.map(pieceOf);
  const futures = [...new Set(pieces.flatMap((piece) => piece.futures))];
  const helpers = [...new Set(pieces.flatMap((piece) => piece.helpers))];
  const parts = [HEADER];
  if (futures.length > 0) parts.push(`from __future__ import ${futures.join(", ")}`);
  for (const helper of Object.keys(HELPERS) as Helper[]) if (helpers.includes(helper)) parts.push(HELPERS[helper]);
  for (const piece of pieces) parts.push(piece.text);
  const text = `${parts.map(trimmed).join("\n\n")}\n`;
  return { text: wellFormed(text), saved: chosen.length, skipped: entries.length - chosen.length };
}

/** Two lines, so that no comment of a block can be taken for a declaration of the file's encoding. */
const HEADER = `# The code of a Python session, saved by edge-python-repl.
# Each block stands under its number in the session's history.`;

type Helper = "display" | "loop" | "run" | "notebook" | "runFile";

const HELPERS: Readonly<Record<Helper, string>> = {
  display: `
try:
    from IPython.display import display
except ImportError:
    display = print`,
  loop: `
def _repl_wait(awaitable):
    """Wait in the one event loop of all blocks, so that their tasks go on in later blocks."""
    import asyncio, builtins
    loop = _repl_wait.loop = builtins.getattr(_repl_wait, "loop", None) or asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(awaitable)`,
  run: `
def _repl_run(source, name):
    """Run source in this namespace and in the event loop; it may await at its top level."""
    import ast, builtins
    code = builtins.compile(source, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    async def run():
        waiting = builtins.eval(code, builtins.globals())
        if waiting is not None:
            await waiting
    _repl_wait(run())`,
  notebook: `
def _repl_cells(source):
    """The code cells of a notebook as one source, without magics."""
    import json, re
    cells = [cell for cell in json.loads(source)["cells"] if cell["cell_type"] == "code"]
    return re.sub(r"(?m)^(\\s*)[%!].*", r"\\1pass", "\\n".join("".join(cell["source"]) for cell in cells))`,
  runFile: `
def _repl_run_file(path):
    """Run a Python file in this namespace, with __file__ set."""
    import ast, builtins, os, sys
    names = builtins.globals()
    before = names.get("__file__")
    names["__file__"] = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(names["__file__"]))
    try:
        with builtins.open(path, "rb") as file:
            source = file.read()
        if path.endswith(".ipynb"):
            source = _repl_cells(source)
        code = builtins.compile(source, path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        waiting = builtins.eval(code, names)
        if waiting is not None:
            _repl_wait(waiting)
    finally:
        del sys.path[0]
        names["__file__"] = before`,
};

/** The session offers `display` without an import. */
const USES_DISPLAY = /(?<!\bdef\s+|[\w.])display\s*\(/;

type Piece = { readonly text: string; readonly futures: readonly string[]; readonly helpers: readonly Helper[] };

function pieceOf({ number, block }: Entry): Piece {
  const heading = `# [${number}]${block.status === "ok" ? "" : ` (${block.status})`}`;
  if (block.kind === "file") return filePiece(heading, block.path ?? block.code);
  const plain = wasCompiled(block) ? plainBlock(block.code) : undefined;
  if (plain === undefined) {
    return { text: `${heading} kept as a comment:\n${commented(block.code)}`, futures: [], helpers: [] };
  }
  const display: Helper[] = USES_DISPLAY.test(plain.text) ? ["display"] : [];
  if (!plain.needsLoop) return { text: `${heading}\n${plain.text}`, futures: plain.futures, helpers: display };
  const call = `_repl_run(${sourceLiteral(plain.text)}, ${quoted(`<block ${number}>`)})`;
  return { text: `${heading}\n${call}`, futures: [], helpers: [...display, "loop", "run"] };
}

function filePiece(heading: string, path: string): Piece {
  return {
    text: `${heading}\n_repl_run_file(${quoted(path)})`,
    futures: [],
    helpers: path.endsWith(".ipynb") ? ["loop", "notebook", "runFile"] : ["loop", "runFile"],
  };
}

/** Code whose traceback has a frame of its own got past the compiler, as did code that was stopped. */
function wasCompiled({ status, error }: Block): boolean {
  if (error !== null) return error.traceback.includes(", in <module>");
  return status === "ok" || status === "timeout" || status === "cancelled" || status === "died";
}

/** Without blank lines at either end, and without white space before the first line. */
function trimmed(text: string): string {
  return text.replace(/^\s*\n/, "").trimEnd();
}
