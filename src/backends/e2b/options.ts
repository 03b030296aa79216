/** Settings of the E2B backend. Seconds and milliseconds are named. */
export type E2bOptions = {
  readonly apiKey: string;
  /** Default `e2b.app`. */
  readonly domain?: string;
  /** Control plane; default `https://api.<domain>`. */
  readonly apiUrl?: string;
  /** One address for all ports of all sandboxes, routed by headers; default `https://<port>-<id>.<domain>`. */
  readonly sandboxUrl?: string;
  /** Default `code-interpreter-v1`. */
  readonly template?: string;
  /** A sandbox lives at least this long after its last cell; default 600. */
  readonly idleSeconds?: number;
  /** `pause` keeps the memory and costs storage until the session is deleted or swept; default `kill`. */
  readonly onIdle?: "kill" | "pause";
  /** May code in the sandbox reach the internet? Default true. */
  readonly internet?: boolean;
  /** Tells apart the deployments that share an E2B team; default `default`. */
  readonly deploy?: string;
  /** `REPL_SEAL_KEY`, which encrypts sandbox tokens in kernel refs; without it an attach costs one more request. */
  readonly sealKey?: string;
  /** Time for code to end after an interrupt; default 2000. */
  readonly graceMs?: number;
  /** Added to a cell's time limit when its lease is checked; default 30,000. */
  readonly leaseMarginMs?: number;
  /** For create, connect, kill and list; default 30,000. */
  readonly controlTimeoutMs?: number;
  /** Silence on a cell's stream after which its connection counts as lost; default 30,000 (keepalives come each 5,000). */
  readonly silenceMs?: number;
  /** Characters of a cell's printed text that are kept; default 524,288 each. */
  readonly headChars?: number;
  readonly tailChars?: number;
  /** Gets one line about each fault that no caller is told of. */
  readonly log?: (line: string) => void;
  /** Milliseconds; for tests of clocks that differ. */
  readonly now?: () => number;
};

export type E2bSettings = Required<Omit<E2bOptions, "sandboxUrl" | "sealKey">> & {
  readonly sandboxUrl: string | undefined;
  readonly sealKey: string | undefined;
  /** What a sandbox is asked to live: longer than idle, so that not every cell has to renew it. */
  readonly leaseMs: number;
};

export const APP = "edge-python-repl";

/** Fills in the defaults. */
export function settingsOf(options: E2bOptions): E2bSettings {
  const domain = options.domain ?? "e2b.app";
  const idleSeconds = options.idleSeconds ?? 600;
  return {
    apiKey: options.apiKey,
    domain,
    apiUrl: options.apiUrl ?? `https://api.${domain}`,
    sandboxUrl: options.sandboxUrl,
    template: options.template ?? "code-interpreter-v1",
    idleSeconds,
    leaseMs: Math.ceil(idleSeconds * 1.5) * 1000,
    onIdle: options.onIdle ?? "kill",
    internet: options.internet ?? true,
    deploy: options.deploy ?? "default",
    sealKey: options.sealKey,
    graceMs: options.graceMs ?? 2_000,
    leaseMarginMs: options.leaseMarginMs ?? 30_000,
    controlTimeoutMs: options.controlTimeoutMs ?? 30_000,
    silenceMs: options.silenceMs ?? 30_000,
    headChars: options.headChars ?? 524_288,
    tailChars: options.tailChars ?? 524_288,
    log: options.log ?? (() => undefined),
    now: options.now ?? (() => Date.now()),
  };
}
