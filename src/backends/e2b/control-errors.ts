import { AppError } from "../../core/errors.ts";
import type { E2bSettings } from "./options.ts";

/** The HTTP status behind an error of the SDK or of ours; undefined when there was no answer. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof AppError) return statusOf(error.cause);
  if (typeof error !== "object" || error === null) return undefined;
  const { statusCode, name } = error as { statusCode?: unknown; name?: unknown };
  if (typeof statusCode === "number") return statusCode;
  const byName: Record<string, number> = {
    AuthenticationError: 401,
    SandboxNotFoundError: 404,
    NotFoundError: 404,
    RateLimitError: 429,
    ServiceBusyError: 503,
  };
  return typeof name === "string" ? byName[name] : undefined;
}

/** Did the call end without an answer, so that it may have had its effect? */
export function hasNoAnswer(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  return statusOf(cause) === undefined;
}

/** What a failed call of the control plane means to the caller, in one sentence without secrets. */
export function controlError(error: unknown, what: string, settings: E2bSettings): AppError {
  if (error instanceof AppError) return error;
  const [code, message] = describe(error, what, settings);
  return new AppError(code, message, { cause: error });
}

function describe(
  error: unknown,
  what: string,
  settings: E2bSettings,
): ["BACKEND_UNAVAILABLE" | "LIMIT_REACHED", string] {
  const status = statusOf(error);
  switch (status) {
    case undefined:
      return ["BACKEND_UNAVAILABLE", withoutAnswer(error, settings)];
    case 401:
    case 403:
      return ["BACKEND_UNAVAILABLE", "E2B refused the API key; set E2B_API_KEY to one of your team's keys"];
    case 402:
      return ["BACKEND_UNAVAILABLE", "E2B has no credit left for this team; add credit or use another backend"];
    case 404:
      return [
        "BACKEND_UNAVAILABLE",
        `E2B has no template ${JSON.stringify(settings.template)}; name one that your team can use`,
      ];
    case 429:
      return [
        "LIMIT_REACHED",
        `E2B's limit is reached (${tail(error)}); delete sessions that are not needed, or try again later`,
      ];
    case 503:
      return ["BACKEND_UNAVAILABLE", "E2B is busy; try again in a minute"];
    default:
      return ["BACKEND_UNAVAILABLE", `E2B could not ${what} the sandbox (status ${status}: ${tail(error)}); try again`];
  }
}

function withoutAnswer(error: unknown, settings: E2bSettings): string {
  const { name, message } = error as { name?: string; message?: string };
  if (name === "TimeoutError" || name === "AbortError") {
    return `E2B did not answer within ${settings.controlTimeoutMs / 1000} s; try again`;
  }
  if (name === "NotCapable" || name === "PermissionDenied") return `Deno lacks a permission for E2B: ${tail(error)}`;
  if (/No such module|Cannot find (module|package)|Failed to resolve module/.test(message ?? "")) {
    return `The E2B SDK could not be loaded (${tail(error)}); on Cloudflare Workers set the flag nodejs_compat`;
  }
  return `E2B could not be reached at ${new URL(settings.apiUrl).host}; check the network and E2B_DOMAIN`;
}

/** The service's own words, without the SDK's sentence before them. */
function tail(error: unknown): string {
  const message = (error as { message?: unknown }).message;
  const text = typeof message === "string" ? message : String(error);
  return text
    .replace(/^.*? - /, "")
    .replace(/^\d{3}: /, "")
    .replace(/[.\s]+$/, "")
    .slice(0, 300);
}
