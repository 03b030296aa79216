/** What an answer of E2B's proxy or of a server in the sandbox means, when it is not a success. */
export type Refusal =
  /** Killed, expired, or paused and not woken by traffic. */
  | { readonly kind: "gone" }
  /** A token is missing or no longer right. */
  | { readonly kind: "denied" }
  /** Nothing has run; the same request may work after `afterMs`. */
  | { readonly kind: "retry"; readonly afterMs: number; readonly status: number; readonly message: string }
  | { readonly kind: "failed"; readonly status: number; readonly message: string };

const MOST_RETRY_AFTER_MS = 10_000;

/** Reads the body of a response whose status is not 2xx and tells what it means. */
export async function refusalOf(response: Response): Promise<Refusal> {
  const { status } = response;
  const message = messageIn(await response.text().catch(() => ""));
  const retry = (afterMs: number): Refusal => ({ kind: "retry", afterMs, status, message });
  if (status === 403) return { kind: "denied" };
  if (status === 409) return retry(500);
  if (status === 429) return retry(retryAfterMs(response) ?? 1_000);
  if (status === 502 && /not found/i.test(message)) return { kind: "gone" };
  if (status === 502) return retry(1_500); // a port that is not open yet, or a proxy that lost its way
  if (status === 500 || status === 503 || status === 504) return retry(1_000);
  return { kind: "failed", status, message };
}

function messageIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    const { message } = (parsed ?? {}) as { message?: unknown };
    return typeof message === "string" ? message : body.slice(0, 300);
  } catch {
    return body.slice(0, 300); // plain text
  }
}

function retryAfterMs(response: Response): number | undefined {
  const value = response.headers.get("retry-after")?.trim() ?? "";
  return /^\d+$/.test(value) ? Math.min(Number(value) * 1000, MOST_RETRY_AFTER_MS) : undefined;
}
