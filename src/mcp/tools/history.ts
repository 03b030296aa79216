import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { EXPORT_FORMATS, type ExportFormat, exportReply, formatOf, scriptReply } from "../exports.ts";
import { historyOutput, historyReply } from "../reply.ts";
import { args, defineTool, jsonReply, type Tool } from "../tool.ts";

export const getHistory = defineTool({
  name: "get_history",
  title: "Show a session's history",
  description:
    "Shows the code that ran in a session and what came of it, as a transcript of numbered blocks; " +
    "start and end select blocks by position from 0. Never waits for running code.",
  scope: "repl:read",
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ session_id: args.session, start: args.start, end: args.end }),
  output: historyOutput,
  run: async ({ session_id, ...slice }, { caller, service, settings }) =>
    historyReply(session_id, await service.history(caller, session_id, slice), settings),
});

export const deleteHistory = defineTool({
  name: "delete_history",
  title: "Delete blocks of history",
  description:
    "Removes blocks from a session's history: with start alone exactly that block, with end the range; variables stay. " +
    "The blocks after them move up. A position outside the history is an error.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    session_id: args.session,
    start: z.int({ error: "must be a whole number" }).describe("Position from 0; negative counts from the end"),
    end: args.end,
  }),
  output: { session_id: z.string(), deleted: z.int(), remaining: z.int() },
  run: async ({ session_id, start, end }, { caller, service }) =>
    jsonReply({ session_id, ...(await service.deleteHistory(caller, session_id, start, end)) }),
});

const path = z
  .string({ error: "must be text" })
  .optional()
  .describe("Where to write it in the session's file system; absent: only a link to read it comes back");

export const exportHistory = defineTool({
  name: "export_history",
  title: "Export a session's history",
  description:
    "Writes a session's code and output to a file or gives a link to it: txt, md, ipynb (a Jupyter notebook), html or json, " +
    "by format or by the suffix of path. An existing file is replaced, and the reply says so.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    session_id: args.session,
    path,
    start: args.start,
    end: args.end,
    format: z
      .enum(EXPORT_FORMATS, { error: `must be one of ${EXPORT_FORMATS.join(", ")}` })
      .optional()
      .describe("Default: by the suffix of path, else txt"),
  }),
  output: {
    session_id: z.string(),
    path: z.string().nullable(),
    blocks_exported: z.int(),
    format: z.string(),
    uri: z.string(),
    replaced: z.boolean(),
  },
  run: async ({ session_id, format, ...rest }, context) => {
    const chosen: ExportFormat = format ?? formatOf(checkedPath(rest.path));
    return exportReply(session_id, chosen, rest, context);
  },
});

export const saveScript = defineTool({
  name: "save_script",
  title: "Save a session as a script",
  description:
    "Writes the code of a session, without output, as a Python file that runs; blocks that failed are left out " +
    "unless include_failed. Gives a link to read it as well.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    session_id: args.session,
    path,
    start: args.start,
    end: args.end,
    include_failed: z.boolean({ error: "must be true or false" }).optional().describe("true keeps blocks that failed"),
  }),
  output: {
    session_id: z.string(),
    path: z.string().nullable(),
    blocks_saved: z.int(),
    blocks_left_out: z.int(),
    uri: z.string(),
    replaced: z.boolean(),
  },
  run: async ({ session_id, include_failed, ...rest }, context) => {
    checkedPath(rest.path);
    return scriptReply(session_id, { ...rest, includeFailed: include_failed ?? false }, context);
  },
});

function checkedPath(given: string | undefined): string | undefined {
  if (given === "") throw new AppError("FILE_NOT_WRITABLE", "path is empty; give a file name, or leave path out");
  return given;
}

export const historyTools: readonly Tool[] = [getHistory, deleteHistory, exportHistory, saveScript];
