import * as z from "zod";
import { args, defineTool, jsonReply, type Tool } from "../tool.ts";

const session = {
  session_id: z.string(),
  created_at: z.number().describe("Unix seconds"),
};

const info = z.object({
  ...session,
  last_used_at: z.number().describe("Unix seconds"),
  history_count: z.int(),
  alive: z.boolean().describe("Is there an interpreter, with variables in it?"),
  busy: z.boolean().describe("Does a call run or wait?"),
  backend: z.string(),
});

export const createSession = defineTool({
  name: "create_session",
  title: "Create a Python session",
  description:
    "Starts a new Python session to run code in; call it once before run_code. " +
    "A session keeps variables, imports and files between calls, and its history until it is deleted. " +
    "A taken session_id is an error.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    session_id: args.session
      .optional()
      .describe("1 to 64 of A-Z a-z 0-9 . _ - starting with a letter or digit; made up when absent"),
    cwd: z.string({ error: "must be text" }).optional().describe("Folder to start in; it must exist"),
    recovery: z
      .enum(["fresh", "replay"], { error: "must be fresh or replay" })
      .optional()
      .describe("When the interpreter was lost: start fresh, or first run the blocks that succeeded again"),
  }),
  output: session,
  run: async ({ session_id, cwd, recovery }, { caller, service }) => {
    const record = await service.create(caller, { id: session_id, cwd, recovery });
    return jsonReply({ session_id: record.id, created_at: record.createdAt });
  },
});

export const listSessions = defineTool({
  name: "list_sessions",
  title: "List Python sessions",
  description: "Shows your Python sessions: which exist, which have a live interpreter, which are busy.",
  scope: "repl:read",
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({}),
  output: { sessions: z.array(info), total: z.int() },
  run: async (_args, { caller, service }) => {
    const sessions = await service.list(caller);
    return jsonReply({ sessions, total: sessions.length });
  },
});

export const resetSession = defineTool({
  name: "reset_session",
  title: "Reset a Python session",
  description:
    "Starts the session over: a fresh Python interpreter and an empty history under the same name. " +
    "Running code is stopped. To keep the history use reset_run_context.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ session_id: args.session }),
  output: { session_id: z.string(), message: z.string() },
  run: async ({ session_id }, { caller, service }) => {
    await service.reset(caller, session_id, true);
    return jsonReply({ session_id, message: "Fresh interpreter and empty history" });
  },
});

export const resetRunContext = defineTool({
  name: "reset_run_context",
  title: "Restart a session's interpreter",
  description:
    "Gives the session a fresh Python interpreter and keeps its history; all variables are gone. " +
    "Running code is stopped. rerun_code can restore the variables from history.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ session_id: args.session }),
  output: { session_id: z.string(), message: z.string() },
  run: async ({ session_id }, { caller, service }) => {
    await service.reset(caller, session_id, false);
    return jsonReply({ session_id, message: "Fresh interpreter; the history is kept, variables are gone" });
  },
});

export const deleteSession = defineTool({
  name: "delete_session",
  title: "Delete a Python session",
  description:
    "Ends a session for good: its interpreter, the processes it started, its history and stored data are gone.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({ session_id: args.session }),
  output: { session_id: z.string(), deleted: z.boolean() },
  run: async ({ session_id }, { caller, service }) => {
    await service.remove(caller, session_id);
    return jsonReply({ session_id, deleted: true });
  },
});

export const sessionTools: readonly Tool[] = [
  createSession,
  listSessions,
  resetSession,
  resetRunContext,
  deleteSession,
];
