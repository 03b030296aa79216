import type { AuthDependencies } from "./verdict.ts";

const TIMEOUT_MS = 5000;

/** Largest answer of an authorization server that is read, in bytes. */
export const MAX_ANSWER = 262_144;

/** The answer had another status than 200. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: number;

  constructor(url: string, status: number) {
    super(`${url} answered with status ${status}, wanted 200`);
    this.status = status;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Asks an authorization server for a JSON object. Follows no redirect: the URL is the one that is trusted.
 * @throws Error, a StatusError among them, whose message is fit for the log: it names the URL and what was wrong, and holds nothing of the answer.
 */
export async function fetchJson(url: string, init: RequestInit, deps: AuthDependencies): Promise<JsonObject> {
  let response: Response;
  try {
    response = await deps.fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw new Error(`${url} did not answer`, { cause });
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new StatusError(url, response.status);
  }
  let value: unknown;
  try {
    value = JSON.parse(await readBounded(response, MAX_ANSWER));
  } catch (cause) {
    throw new Error(`${url} did not answer with JSON of at most ${MAX_ANSWER} bytes`, { cause });
  }
  if (!isObject(value)) throw new Error(`${url} did not answer with a JSON object`);
  return value;
}

async function readBounded(response: Response, limit: number): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel();
      throw new RangeError(`The answer is longer than ${limit} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
