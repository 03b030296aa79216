import type { E2bOptions } from "../src/backends/e2b/backend.ts";
import { type Config, ConfigError } from "../src/config.ts";
import type { ReplySettings } from "../src/mcp/tool.ts";
import type { Limits } from "../src/sessions/context.ts";
import type { Log } from "./log.ts";

/** Settings as the parts want them; the same on every runtime. */

/** Where several owners share the machine. */
const STARTS_PER_OWNER = 1;
const KERNELS_PER_OWNER = 50;

export function limitsOf(config: Config): Limits {
  const shared = config.auth.mode !== "none";
  return {
    timeout: config.REPL_TIMEOUT,
    maxTimeout: config.REPL_MAX_TIMEOUT,
    idleSeconds: config.REPL_IDLE_SECONDS,
    maxSessions: config.REPL_MAX_SESSIONS,
    maxKernels: config.REPL_MAX_KERNELS,
    // Who is alone on the server may have all; nothing is ever stopped to make room, since its variables would be lost.
    maxKernelsPerOwner: config.REPL_MAX_KERNELS_PER_OWNER ?? (shared ? KERNELS_PER_OWNER : config.REPL_MAX_KERNELS),
    ...(shared ? { startsPerOwner: STARTS_PER_OWNER } : {}),
    sandboxMinutes: config.REPL_SANDBOX_MINUTES_PER_DAY,
    maxQueue: config.REPL_MAX_QUEUE,
    maxCodeBytes: config.REPL_MAX_CODE_BYTES,
    maxBlocks: config.REPL_MAX_BLOCKS,
    maxHistoryBytes: config.REPL_MAX_HISTORY_MB * 2 ** 20,
    blockChars: config.REPL_BLOCK_CHARS,
  };
}

export function replySettingsOf(config: Config): ReplySettings {
  return { structured: config.REPL_STRUCTURED, echo: config.REPL_ECHO, replyChars: config.REPL_REPLY_CHARS };
}

/** @throws ConfigError without an API key. */
export function e2bOptions(config: Config, log: Log): E2bOptions {
  const apiKey = config.E2B_API_KEY;
  if (apiKey === undefined) throw new ConfigError("The e2b backend needs E2B_API_KEY, the API key of your E2B team");
  const optional = {
    domain: config.E2B_DOMAIN,
    apiUrl: config.E2B_API_URL,
    sandboxUrl: config.E2B_SANDBOX_URL,
    template: config.REPL_E2B_TEMPLATE,
    sealKey: config.REPL_SEAL_KEY,
  };
  return {
    apiKey,
    deploy: config.REPL_DEPLOYMENT,
    idleSeconds: config.REPL_E2B_IDLE_SECONDS,
    onIdle: config.REPL_E2B_ON_IDLE,
    internet: config.REPL_E2B_INTERNET,
    ...defined(optional),
    log: (line: string) => log("e2b", { line }),
  };
}

/** The entries that have a value, for option types that admit no undefined. */
function defined<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
