import { hasScope, LOCAL_OWNER, type Principal, type Scope } from "../auth/principal.ts";
import { type AppError, type ErrorCode, toAppError } from "../core/errors.ts";
import type { Caller } from "../sessions/context.ts";
import { readForm } from "./form.ts";
import type { Gate, Visitor } from "./gate.ts";
import { messagePage } from "./message-page.tsx";
import { refused, wantsPage } from "./respond.ts";
import type { Viewer } from "./viewer.ts";

/** One request for a page, of somebody who may make it. */
export type Visit = {
  readonly request: Request;
  readonly url: URL;
  readonly viewer: Viewer;
  /** What was posted; empty for other requests. */
  readonly form: URLSearchParams;
  /** Keeps the runtime awake for work that outlives the reply. */
  readonly defer: ((work: Promise<unknown>) => void) | undefined;
};

export type VisitOptions = {
  readonly gate: Gate;
  /** Finds out who visits; the gate's `admit`, unless someone in front has asked it already. */
  readonly admit: (request: Request) => Promise<Visitor | Response>;
  /** The refusal of a caller who asks too often. */
  readonly limit: (owner: string) => Response | undefined;
  /** Bytes of a posted form. */
  readonly maxFormBytes: number;
  readonly log: (event: string, detail?: Readonly<Record<string, unknown>>) => void;
};

/**
 * Opens the door for one request: who visits, with the right `scope`, and, for what changes something, from a page of
 * ours. Errors of `serve` are told as a page or as JSON, as the request wants it.
 */
export async function receive(
  request: Request,
  scope: Scope,
  options: VisitOptions,
  serve: (visit: Omit<Visit, "defer">) => Promise<Response>,
): Promise<Response> {
  const { gate } = options;
  const visitor = await options.admit(request);
  if (visitor instanceof Response) return visitor;
  const { principal } = visitor;
  const tooOften = options.limit(principal.owner);
  if (tooOften) return tooOften;
  const lacking = (["repl:read", scope] as const).find((needed) => !hasScope(principal, needed));
  if (lacking) return refuse(request, 403, `Your token lacks the scope ${lacking}`);
  const posted = request.method === "POST" ? await readForm(request, options.maxFormBytes) : new URLSearchParams();
  if (!posted) return refuse(request, 413, "This is no form, or a longer one than the server takes");
  if (request.method === "POST" && !(await gate.trusts(request, visitor, posted.get("csrf")))) {
    return refuse(request, 403, "The form did not come from a present page of this server; load the page again");
  }
  const url = new URL(request.url);
  const viewer = await viewerOf(request, visitor, gate);
  const startedAt = performance.now();
  const answer = await serve({ request, url, viewer, form: posted }).catch((error: unknown) =>
    failed(request, toAppError(error), options.log),
  );
  if (request.method === "POST") audit(options.log, viewer.caller, url.pathname, answer.status, startedAt);
  return answer;
}

const MAX_PATH = 200;

/** The line that each action of a page leaves: who, what to which session, how it was answered; never what was typed. */
function audit(log: VisitOptions["log"], caller: Caller, path: string, status: number, startedAt: number): void {
  const ms = Math.round((performance.now() - startedAt) * 100) / 100;
  log("action", { owner: caller.owner, by: caller.name, path: path.slice(0, MAX_PATH), status, ms });
}

async function viewerOf(request: Request, visitor: Visitor, gate: Gate): Promise<Viewer> {
  const { principal } = visitor;
  return {
    caller: callerOf(principal),
    canRun: hasScope(principal, "repl:run"),
    csrf: await gate.formToken(request, visitor),
    loggedIn: principal.owner !== LOCAL_OWNER && visitor.login !== undefined,
  };
}

function callerOf({ owner, name }: Principal): Caller {
  return { owner, ...(owner === LOCAL_OWNER ? {} : { name }) };
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  SESSION_NOT_FOUND: 404,
  INVALID_SESSION_ID: 404,
  SESSION_EXISTS: 409,
  SESSION_BUSY: 409,
  SESSION_LIMIT: 409,
  LIMIT_REACHED: 409,
  TOO_LARGE: 413,
  FORBIDDEN: 403,
  BACKEND_UNAVAILABLE: 503,
  STORAGE_UNAVAILABLE: 503,
  INTERNAL: 500,
};

export function statusOf({ code }: AppError): number {
  return STATUS[code] ?? 400;
}

/** Logs what is our own fault; the visitor is told the sentence only. */
export function failed(request: Request, error: AppError, log: VisitOptions["log"]): Response {
  if (error.code === "INTERNAL") log("page failed", { error: describe(error.cause) });
  return refuse(request, statusOf(error), error.message, error.code);
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

function refuse(request: Request, status: number, text: string, code?: ErrorCode): Response {
  if (!wantsPage(request)) return refused(status, text, code);
  const title = status === 404 ? "Not here" : status === 403 ? "Not allowed" : "That did not work";
  return messagePage({ title, text: `${text}.`, status });
}
