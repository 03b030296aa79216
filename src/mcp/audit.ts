import type { CallToolResult } from "@modelcontextprotocol/server";
import type { AppError } from "../core/errors.ts";
import type { Caller } from "../sessions/context.ts";

type Log = (event: string, detail?: Readonly<Record<string, unknown>>) => void;

export type Call = {
  readonly caller: Caller;
  /** As the caller named it. */
  readonly tool: string;
  readonly args: unknown;
  /** By `performance.now`. */
  readonly startedAt: number;
};

/** Failures that are ours or of what we depend on: their cause is for who runs the server. */
const OURS: ReadonlySet<string> = new Set(["INTERNAL", "BACKEND_UNAVAILABLE", "STORAGE_UNAVAILABLE"]);
const MAX_NAME = 64;
const MAX_CODE = 10_000;

/**
 * Writes the one line that each call leaves: who, which tool and session, how it ended, how long it took. Code is in it
 * only `withCode`; output, tokens and other arguments never are.
 */
export function auditCall(log: Log, call: Call, outcome: CallToolResult | string, withCode: boolean): void {
  const { caller, tool, args, startedAt } = call;
  const content = typeof outcome === "string" ? {} : (outcome.structuredContent ?? {});
  const code = withCode ? field(args, "code") : undefined;
  log("call", {
    request: caller.request,
    owner: caller.owner,
    by: caller.name,
    tool: plain(tool),
    session: plain(field(args, "session_id") ?? field(content, "session_id")),
    outcome: typeof outcome === "string" ? outcome : outcomeOf(outcome),
    ms: Math.round((performance.now() - startedAt) * 100) / 100,
    ...(typeof code === "string" ? { code: code.slice(0, MAX_CODE) } : {}),
  });
}

/** Writes why a call failed when that is not the caller's doing. */
export function logCause(log: Log, { caller, tool }: Call, told: AppError, error: unknown): void {
  if (!OURS.has(told.code)) return;
  const cause = error === told ? (told.cause ?? told) : error;
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  log("call failed", { request: caller.request, tool: plain(tool), error: text });
}

function outcomeOf({ structuredContent, isError }: CallToolResult): string {
  const { code, status } = (structuredContent ?? {}) as { code?: string; status?: string };
  return code ?? status ?? (isError ? "error" : "ok");
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A caller's text is in the log only when it looks like a name: else it could hold anything. */
function plain(text: unknown): string | undefined {
  if (text === undefined) return undefined;
  return typeof text === "string" && text.length <= MAX_NAME && /^[\w.-]*$/.test(text) ? text : "(not a name)";
}
