import { AppError } from "../../core/errors.ts";
import { headersOf, urlOf } from "./address.ts";
import type { Connection, Control } from "./control.ts";
import type { E2bSettings } from "./options.ts";
import { type Refusal, refusalOf } from "./proxy-answer.ts";
import type { Lease } from "./ref.ts";

export type PortRequest = {
  readonly port: number;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
};

/** A live sandbox: how to reach it, and how long it lives by our clock. */
export class RemoteSandbox {
  readonly settings: E2bSettings;
  /** Told after the tokens changed. */
  onTokens: (connection: Connection) => Promise<void> = async () => undefined;
  #control: Control;
  #connection: Connection;
  #lease: Lease;
  #reconnecting: Promise<boolean> | undefined;

  constructor(settings: E2bSettings, control: Control, connection: Connection, lease: Lease) {
    this.settings = settings;
    this.#control = control;
    this.#connection = connection;
    this.#lease = lease;
  }

  get connection(): Connection {
    return this.#connection;
  }

  get lease(): Lease {
    return this.#lease;
  }

  /** Milliseconds that it surely lives; 0 also when the lease's end cannot be true, as after a change of clocks. */
  get remainingMs(): number {
    const { until, length } = this.#lease;
    const remaining = until - this.settings.now();
    return remaining > length ? 0 : Math.max(0, remaining);
  }

  /**
   * Makes it live for `needMs` more, and as long as a lease is at least; wakes it if it was paused.
   * Resolves to false when it is gone. Calls at the same time are one.
   * @throws AppError BACKEND_UNAVAILABLE, LIMIT_REACHED.
   */
  renew(needMs = 0): Promise<boolean> {
    this.#reconnecting ??= this.#renew(Math.max(needMs, this.settings.leaseMs)).finally(() => {
      this.#reconnecting = undefined;
    });
    return this.#reconnecting;
  }

  async #renew(length: number): Promise<boolean> {
    const asked = this.settings.now();
    const found = await this.#control.connect(this.#connection.sandboxId, length);
    if (!found) return false;
    const before = this.#connection;
    this.#connection = {
      ...found,
      envdToken: found.envdToken ?? before.envdToken,
      trafficToken: found.trafficToken ?? before.trafficToken,
    };
    const until = asked + length;
    if (this.remainingMs < length) this.#lease = { until, length }; // connecting never shortens a life
    const { envdToken, trafficToken } = this.#connection;
    if (envdToken !== before.envdToken || trafficToken !== before.trafficToken) await this.onTokens(this.#connection);
    return true;
  }

  kill(): Promise<void> {
    return this.#control.kill(this.#connection.sandboxId);
  }

  /** One request to a port; the promise rejects only when there is no answer. */
  fetch({ port, method, path, headers, body, signal }: PortRequest): Promise<Response> {
    return fetch(urlOf(this.settings, this.#connection, port, path), {
      method,
      headers: { ...headersOf(this.#connection, port), ...headers },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /**
   * A request that may be repeated: once more after waking a paused sandbox or getting new tokens, and a few times
   * when the sandbox is not ready. Resolves to any answer that comes from the port itself.
   * @throws AppError BACKEND_UNAVAILABLE when the sandbox is gone or cannot be reached.
   */
  async request(request: PortRequest): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      const response = await this.fetch(request).catch((error: unknown) => {
        if (request.signal?.aborted) throw error;
        return error;
      });
      if (response instanceof Response && (response.ok || !isFromProxy(response))) return response;
      const refusal = response instanceof Response ? await refusalOf(response) : lost;
      if (attempt >= 2) throw unreachable(refusal, response);
      if (refusal.kind === "gone" || refusal.kind === "denied") {
        if (!(await this.renew())) throw goneError();
      } else await sleep(refusal.kind === "retry" ? refusal.afterMs : 0);
    }
  }
}

const lost: Refusal = { kind: "retry", afterMs: 300, status: 0, message: "the connection was lost" };

/** 401, 404 and other 4xx of a server in the sandbox are its answers; these are not. */
function isFromProxy({ status }: Response): boolean {
  return status === 403 || status === 409 || status === 429 || status >= 502;
}

export function goneError(): AppError {
  return new AppError("BACKEND_UNAVAILABLE", "The session's sandbox is gone; the next run starts a fresh one");
}

/** The error for a sandbox that exists but does not serve. */
export function unreachable(refusal: Refusal, cause: unknown): AppError {
  if (refusal.kind === "gone") return goneError();
  if (refusal.kind === "denied") {
    return new AppError("BACKEND_UNAVAILABLE", "E2B refused the sandbox's tokens; reset the session", { cause });
  }
  const { status, message } = refusal;
  const code = status === 429 ? "LIMIT_REACHED" : "BACKEND_UNAVAILABLE";
  const said = status === 0 ? message : `status ${status}${message ? `: ${message.slice(0, 200)}` : ""}`;
  return new AppError(code, `The sandbox did not take the request (${said}); try again`, { cause });
}

/** Resolves after `ms`, or early when `signal` fires. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}
