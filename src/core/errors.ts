/** The frozen list of reasons for which a call is refused; part of the tool contract. */
export const ERROR_CODES = [
  "SESSION_NOT_FOUND",
  "SESSION_EXISTS",
  "SESSION_BUSY",
  "SESSION_LIMIT",
  "INVALID_SESSION_ID",
  "INVALID_ARGUMENT",
  "INVALID_CWD",
  "INVALID_REQUIREMENT",
  "EMPTY_SLICE",
  "INDEX_OUT_OF_RANGE",
  "NO_CODE",
  "FILE_NOT_FOUND",
  "FILE_UNREADABLE",
  "FILE_NOT_WRITABLE",
  "PATH_NOT_ALLOWED",
  "INSTALL_FAILED",
  "TOO_LARGE",
  "LIMIT_REACHED",
  "CANCELLED",
  "FORBIDDEN",
  "NOT_SUPPORTED",
  "BACKEND_UNAVAILABLE",
  "STORAGE_UNAVAILABLE",
  "INTERNAL",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * What we could not do, told to the caller. The message is one sentence that names the value that was wrong
 * and what would be right; it holds no secret, no path of the server and no stack. `cause` is for our log only.
 */
export class AppError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(bounded(message), options);
    this.name = "AppError";
    this.code = code;
  }
}

/** Characters of a message. Some name paths of any length; what would be right stands at the end. */
const MAX_MESSAGE = 4000;
const MAX_END = 1000;

function bounded(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  return `${message.slice(0, MAX_MESSAGE - MAX_END - 3)}...${message.slice(-MAX_END)}`;
}

/** Returns `error` when it is an AppError, else an `INTERNAL` one that hides it and keeps it as `cause`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("INTERNAL", "The server failed on this call; its log has the cause", { cause: error });
}
