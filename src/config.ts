import * as z from "zod";
import type { AuthConfig } from "./auth/config.ts";
import { networkOptions } from "./auth/origin.ts";
import { isSealKey } from "./auth/seal.ts";
import { AUTH_SETTINGS, parseAuthSettings } from "./auth/settings.ts";

/** The only file that knows setting names and defaults. */

const number = (least = 0) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number of at least ${least}`)
    .transform(Number)
    .refine((value) => Number.isSafeInteger(value) && value >= least, `must be a whole number of at least ${least}`);

const whole = (fallback: number, least = 0) => number(least).default(fallback);

const flag = (fallback: boolean) =>
  z
    .enum(["0", "1", "true", "false"], { error: "must be 0 or 1" })
    .transform((value) => value === "1" || value === "true")
    .default(fallback);

const choice = <const T extends readonly [string, ...string[]]>(values: T, fallback: T[number]) =>
  z.enum(values, { error: `must be one of ${values.join(", ")}` }).default(fallback as never);

const names = z
  .string()
  .transform((value) => value.split(",").map((name) => name.trim()))
  .transform((list) => list.filter((name) => name !== ""))
  .default([]);

const text = z.string().min(1, "must not be empty").optional();

const settings = z.object({
  MCP_TRANSPORT: choice(["stdio", "sse", "streamable-http"], "stdio"),
  MCP_HOST: z.string().min(1, "must not be empty").default("127.0.0.1"),
  MCP_PORT: number()
    .refine((port) => port <= 65535, "must be a port number from 0 to 65535")
    .default(8000),
  E2B_API_KEY: text,
  E2B_DOMAIN: text,
  E2B_API_URL: text,
  E2B_SANDBOX_URL: text,
  REPL_BACKEND: z.enum(["subprocess", "e2b"], { error: "must be one of subprocess, e2b" }).optional(),
  REPL_PYTHON: text,
  REPL_STORAGE: text,
  REPL_CWD: text,
  REPL_ROOT: text,
  REPL_TIMEOUT: whole(0),
  REPL_MAX_TIMEOUT: whole(3600, 1),
  REPL_IDLE_SECONDS: whole(0),
  REPL_MEMORY_MB: whole(0),
  REPL_RECOVERY: choice(["fresh", "replay"], "fresh"),
  REPL_STRUCTURED: choice(["full", "brief", "off"], "full"),
  REPL_ECHO: flag(true),
  REPL_REPLY_CHARS: whole(64 * 1024, 1000),
  REPL_BLOCK_CHARS: whole(1024 * 1024, 1000),
  REPL_MAX_SESSIONS: whole(100, 1),
  REPL_MAX_KERNELS: whole(100, 1),
  REPL_MAX_KERNELS_PER_OWNER: number(1).optional(),
  REPL_MAX_QUEUE: whole(100, 1),
  REPL_MAX_CODE_BYTES: whole(4 * 1024 * 1024, 1),
  REPL_MAX_BODY_BYTES: whole(16 * 1024 * 1024, 1024),
  REPL_MAX_BLOCKS: whole(100_000, 1),
  REPL_MAX_HISTORY_MB: whole(1024, 1),
  REPL_RATE_PER_MINUTE: number().optional(),
  REPL_MAX_OPEN_REQUESTS: number().optional(),
  REPL_SANDBOX_MINUTES_PER_DAY: whole(0),
  REPL_ALLOWED_HOSTS: names,
  REPL_ALLOWED_ORIGINS: names,
  REPL_PUBLIC_URL: z.url({ error: "must be a URL" }).optional(),
  REPL_LOG: choice(["info", "debug", "off"], "info"),
  REPL_SANDBOX: choice(["off", "bwrap"], "off"),
  REPL_SANDBOX_NETWORK: flag(false),
  REPL_MAX_PROCESSES: whole(256, 8),
  REPL_ALLOW_URLS: flag(false),
  REPL_WARM_KERNELS: whole(0),
  // A passphrase could be guessed by whoever gets the store.
  REPL_SEAL_KEY: z.string().refine(isSealKey, "must be 32 random bytes in base64 (openssl rand -base64 32)").optional(),
  REPL_DEPLOYMENT: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 . _ -")
    .default("default"),
  REPL_E2B_TEMPLATE: text,
  REPL_E2B_IDLE_SECONDS: whole(600, 30),
  REPL_E2B_ON_IDLE: choice(["kill", "pause"], "kill"),
  REPL_E2B_INTERNET: flag(true),
});

export type Settings = z.infer<typeof settings>;
export type Environment = Readonly<Record<string, string | undefined>>;
export type Config = Settings & { readonly auth: AuthConfig };

export const SETTING_NAMES: readonly string[] = [...new Set([...Object.keys(settings.shape), ...AUTH_SETTINGS])];

/** Settings and secrets of ours, which user code must never see in its environment. */
export function isOwnSetting(name: string): boolean {
  return /^(REPL_|MCP_|E2B_)/.test(name);
}

/** A setting is unknown or has a bad value. The message is one sentence that names it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

function rejectUnknown(env: Environment): void {
  for (const name of Object.keys(env)) {
    if (name.startsWith("REPL_") && !SETTING_NAMES.includes(name)) {
      throw new ConfigError(`Unknown setting ${name}; the settings are ${SETTING_NAMES.join(", ")}`);
    }
  }
}

function shown(name: string, value: string | undefined): string {
  return /KEY|SECRET|TOKEN/.test(name) ? "" : `, not ${JSON.stringify(value)}`;
}

/**
 * Reads all settings from environment-like strings. An empty value counts as absent.
 * @throws ConfigError for an unknown `REPL_` name or a bad value.
 */
export function parseConfig(env: Environment): Config {
  rejectUnknown(env);
  const given = Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const value = env[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
  const parsed = settings.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = String(issue?.path[0]);
    throw new ConfigError(`${name} ${issue?.message}${shown(name, env[name])}`);
  }
  if (parsed.data.REPL_TIMEOUT > parsed.data.REPL_MAX_TIMEOUT) {
    throw new ConfigError(`REPL_TIMEOUT must be at most REPL_MAX_TIMEOUT (${parsed.data.REPL_MAX_TIMEOUT})`);
  }
  const auth = parseAuth(env);
  checkNetwork(parsed.data, auth);
  return { ...parsed.data, auth };
}

/** So that a name that is not sound stops the start, and not the first request. */
function checkNetwork({ REPL_ALLOWED_HOSTS: hosts, REPL_ALLOWED_ORIGINS: origins }: Settings, auth: AuthConfig): void {
  for (const [name, input] of Object.entries({ REPL_ALLOWED_HOSTS: { hosts }, REPL_ALLOWED_ORIGINS: { origins } })) {
    try {
      networkOptions({ ...input, authenticated: auth.mode !== "none" });
    } catch (error) {
      throw new ConfigError(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

function parseAuth(env: Environment): AuthConfig {
  try {
    return parseAuthSettings(env);
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
