import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { sliceIndices } from "../../core/slice.ts";
import { VIEW_TOOL_META } from "../../mcp-app/page.ts";
import type { RunSpec } from "../../sessions/run.ts";
import { watchProgress } from "../progress.ts";
import { blockOutput, rerunReply, runReply } from "../reply.ts";
import { args, defineTool, type Tool, type ToolContext } from "../tool.ts";

const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

async function runAndReply(
  id: string,
  spec: RunSpec,
  options: { timeout?: number | undefined; echo?: boolean | undefined },
  context: ToolContext,
) {
  const progress = watchProgress(context.progress);
  try {
    const { caller, signal } = context;
    const run = { timeout: options.timeout, signal, onOutput: progress.output };
    const result = await context.service.run(caller, id, spec, run);
    return runReply(id, result, { ...context.settings, echo: options.echo ?? context.settings.echo });
  } finally {
    progress.stop();
  }
}

/** The lines of `code` that Python's `splitlines()[start:end]` would choose. */
function chosenLines(code: string, start: number | undefined, end: number | undefined): string {
  if (start === undefined && end === undefined) return code;
  const lines = code.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") lines.pop();
  const [from, to] = sliceIndices(lines.length, start, end);
  if (from === to && lines.length > 0) {
    throw new AppError("EMPTY_SLICE", `start and end select none of the ${lines.length} lines of the code`);
  }
  return lines.slice(from, to).join("\n");
}

export const runCode = defineTool({
  name: "run_code",
  title: "Run Python code",
  description:
    "Runs Python code in a session and returns what it printed, the value of its last expression, pictures, errors " +
    "and links to files that it made or changed. " +
    "Variables stay for the next call; top-level await works; `timeout` seconds interrupt it. " +
    "With `code`, start and end select lines of it; without `code`, they select blocks of history to run again as one. " +
    "Positions count from 0.",
  scope: "repl:run",
  annotations,
  meta: VIEW_TOOL_META,
  input: z.strictObject({
    session_id: args.session,
    code: z.string({ error: "must be text" }).optional().describe("Python source, as it would stand in a file"),
    start: args.start,
    end: args.end,
    timeout: args.timeout,
    echo: args.echo,
  }),
  output: blockOutput,
  run: async ({ session_id, code, start, end, ...options }, context) => {
    if (code !== undefined) {
      return runAndReply(session_id, { kind: "code", code: chosenLines(code, start, end) }, options, context);
    }
    if (start === undefined && end === undefined) {
      await context.service.find(context.caller, session_id);
      throw new AppError("NO_CODE", "Give code to run, or start and end to run blocks of history again");
    }
    const joined = await context.service.joinBlocks(context.caller, session_id, { start, end });
    return runAndReply(session_id, { kind: "code", code: joined }, options, context);
  },
});

export const runFile = defineTool({
  name: "run_file",
  title: "Run a Python file",
  description:
    "Runs a Python file (or the code cells of a .ipynb notebook) in a session, as if its text were sent to run_code; " +
    "its names stay in the session. " +
    "A relative path starts at the session's current folder; __file__ and tracebacks name the file.",
  scope: "repl:run",
  annotations,
  meta: VIEW_TOOL_META,
  input: z.strictObject({
    session_id: args.session,
    path: z.string({ error: "must be text" }).describe("Path of the file in the session's file system"),
    timeout: args.timeout,
    echo: args.echo,
  }),
  output: blockOutput,
  run: async ({ session_id, path, ...options }, context) => {
    if (path === "") throw new AppError("FILE_NOT_FOUND", "path is empty; give the path of a Python file");
    return runAndReply(session_id, { kind: "file", code: `exec(${quoted(path)})`, path }, options, context);
  },
});

/** A Python string literal of the path, in single quotes where that needs no escapes. */
function quoted(path: string): string {
  return path.includes("'") ? JSON.stringify(path) : `'${path.replaceAll("\\", "\\\\")}'`;
}

export const rerunCode = defineTool({
  name: "rerun_code",
  title: "Run history again",
  description:
    "Restores a session's variables: starts a fresh interpreter and runs the chosen blocks of history again, in order. " +
    "Each block gets its new output and keeps its place; the reply says which outputs changed. " +
    "Blocks outside the range stay in history but are not in memory.",
  scope: "repl:run",
  annotations,
  meta: VIEW_TOOL_META,
  input: z.strictObject({
    session_id: args.session,
    start: args.start,
    end: args.end,
    timeout: args.timeout.describe("Seconds, above 0, for each block"),
    stop_on_error: z.boolean({ error: "must be true or false" }).optional().describe("true stops at the first failure"),
  }),
  output: {
    session_id: z.string(),
    blocks: z.array(z.looseObject({ index: z.int(), status: z.string(), same_output: z.boolean() })),
    not_run: z.int().describe("Blocks of the range that were not run"),
  },
  run: async ({ session_id, stop_on_error, ...slice }, context) => {
    const progress = watchProgress(context.progress);
    try {
      const options = { ...slice, stopOnError: stop_on_error, signal: context.signal, onOutput: progress.output };
      return rerunReply(session_id, await context.service.rerun(context.caller, session_id, options), context.settings);
    } finally {
      progress.stop();
    }
  },
});

export const runTools: readonly Tool[] = [runCode, runFile, rerunCode];
