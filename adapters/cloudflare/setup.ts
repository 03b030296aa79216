import { type Authenticator, createAuthenticator } from "../../src/auth/authenticator.ts";
import { type NetworkOptions, networkOptions } from "../../src/auth/origin.ts";
import { isLoopbackHost } from "../../src/auth/safe-url.ts";
import { type Config, ConfigError, parseConfig } from "../../src/config.ts";
import { createGate, type Gate as PageGate } from "../../src/web/gate.ts";
import type { KvNamespace, R2Bucket } from "../drivers/cloudflare-blocks.ts";
import { createLog, type Log } from "../log.ts";
import { e2bOptions } from "../options.ts";

/** The little of the platform's types that we use. */
export type Stub = { fetch(request: Request): Promise<Response> };
export type Namespace = { idFromName(name: string): unknown; get(id: unknown): Stub };
export type Env = Readonly<Record<string, unknown>> & {
  readonly OWNERS: Namespace;
  /** Where blocks of history move to when there is such a binding. */
  readonly BLOCKS_R2?: R2Bucket;
  readonly BLOCKS_KV?: KvNamespace;
};

/** What stands between the network and an owner's object. */
export type Gate = {
  readonly config: Config;
  readonly authenticator: Authenticator;
  readonly network: NetworkOptions;
  readonly pages: PageGate;
  readonly log: Log;
};

/** Settings do not change while an isolate lives. */
const gates = new WeakMap<Env, Gate>();

/** @throws ConfigError with one sentence on what is missing or wrong; also what only an object would stumble over. */
export function gateOf(env: Env): Gate {
  const present = gates.get(env);
  if (present) return present;
  const config = configOf(env);
  const log = logOf(config);
  checkPlatform(env, config);
  e2bOptions(config, log);
  const authenticator = createAuthenticator(config.auth, { shareFetches: false });
  const network = networkOf(config);
  const pages = createGate({ authenticator, network, sealKey: config.REPL_SEAL_KEY, shared: true });
  const gate = { config, authenticator, network, pages, log };
  gates.set(env, gate);
  return gate;
}

/** @throws ConfigError. */
export function configOf(env: Env): Config {
  const texts = Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return parseConfig({ REPL_BACKEND: "e2b", ...Object.fromEntries(texts) });
}

export function logOf(config: Config): Log {
  return createLog(config.REPL_LOG, (line) => console.error(line.trimEnd()));
}

/** Without authentication there is no other visitor than this machine's, as under `wrangler dev`. */
export function bindOf({ auth }: Config): { readonly bind?: string } {
  return auth.mode === "none" ? { bind: "127.0.0.1" } : {};
}

function networkOf(config: Config): NetworkOptions {
  return networkOptions({
    ...bindOf(config),
    ...(config.REPL_PUBLIC_URL === undefined ? {} : { publicUrl: config.REPL_PUBLIC_URL }),
    hosts: config.REPL_ALLOWED_HOSTS,
    origins: config.REPL_ALLOWED_ORIGINS,
    authenticated: config.auth.mode !== "none",
  });
}

/** The refusal where the Worker would let anyone run code at its owner's cost. */
export function refuseOpenDoor(config: Config, url: URL): Response | undefined {
  if (config.auth.mode !== "none" || isLoopbackHost(url.hostname)) return undefined;
  const error = "REPL_AUTH=none would let anyone run code at your cost: set REPL_AUTH to token or oauth";
  return Response.json({ error }, { status: 403 });
}

function checkPlatform(env: Env, config: Config): void {
  if (typeof env.OWNERS?.idFromName !== "function") {
    throw new ConfigError("The binding OWNERS of the class OwnerObject is missing; wrangler.toml shows it");
  }
  if (config.REPL_BACKEND !== "e2b") {
    throw new ConfigError("Workers have no processes: REPL_BACKEND must be e2b, or not be set");
  }
  if (config.REPL_STORAGE !== undefined) {
    throw new ConfigError(
      "On Workers each owner's history is kept in a Durable Object: REPL_STORAGE must not be set; the binding BLOCKS_R2 or BLOCKS_KV moves blocks elsewhere",
    );
  }
  const { Cloudflare } = globalThis as { Cloudflare?: { compatibilityFlags?: Record<string, boolean> } };
  if (Cloudflare?.compatibilityFlags?.enable_request_signal === false) {
    throw new ConfigError(
      "The compatibility flag enable_request_signal is missing, without which code runs on when its client is gone",
    );
  }
}
