import { type App, createApp } from "../../src/app.ts";
import { createE2bBackend, type SandboxMeta } from "../../src/backends/e2b/backend.ts";
import { createSessionService } from "../../src/sessions/service.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { createMcpSessions } from "../../src/store/mcp-sessions.ts";
import type { Visitor } from "../../src/web/gate.ts";
import { type FarStore, kvBlocks, r2Blocks } from "../drivers/cloudflare-blocks.ts";
import { type DurableObjectStorage, openDurableObject } from "../drivers/durable-object.ts";
import type { Log } from "../log.ts";
import { e2bOptions, limitsOf, replySettingsOf } from "../options.ts";
import { ownedBy } from "../sweep.ts";
import { bindOf, configOf, type Env, logOf } from "./setup.ts";

/** Set by the Worker alone: it is overwritten on every request, so a client's own never gets through. */
export const VISITOR_HEADER = "x-edge-repl-visitor";

/** Asks an object whether it owns a sandbox; never forwarded from a client. */
export const SWEEP_HEADER = "x-edge-repl-sweep";

/** On Workers only a write shows that a client is gone, so silent streams are written to this often. */
const KEEP_ALIVE_MS = 300;

export type ObjectState = {
  readonly storage: DurableObjectStorage;
  waitUntil(work: Promise<unknown>): void;
};

/** One object is one owner: the whole app over storage of its own, so that all isolates see the same sessions. */
export class OwnerObject {
  readonly #state: ObjectState;
  readonly #app: App;
  readonly #owns: (meta: SandboxMeta) => Promise<boolean>;

  constructor(state: ObjectState, env: Env) {
    this.#state = state;
    const config = configOf(env);
    const log = logOf(config);
    const opened = { ...openStore(state, env, log), log: (message: string) => log("store", { message }) };
    const store = createHistoryStore(opened);
    this.#owns = (meta) => ownedBy(store, meta);
    const service = createSessionService({
      store,
      backend: createE2bBackend(e2bOptions(config, log)),
      limits: limitsOf(config),
      recovery: config.REPL_RECOVERY,
      allowUrls: config.REPL_ALLOW_URLS,
      now: Date.now,
      log,
    });
    this.#app = createApp({
      config,
      service,
      settings: replySettingsOf(config),
      log,
      ...bindOf(config),
      keepAliveMs: KEEP_ALIVE_MS,
      streamSlowCalls: true,
      identify: async (request) => visitorOf(request).principal,
      visit: async (request) => visitorOf(request),
      mcpSessions: createMcpSessions(opened),
    });
  }

  async fetch(request: Request): Promise<Response> {
    const asked = request.headers.get(SWEEP_HEADER);
    if (asked !== null) {
      const owned = await this.#owns(JSON.parse(decodeURIComponent(asked)) as SandboxMeta);
      return new Response(null, { status: owned ? 200 : 404 });
    }
    return this.#app.fetch(request, (work) => this.#state.waitUntil(work));
  }
}

function openStore(state: ObjectState, env: Env, log: Log) {
  const blocks = farStoreOf(env);
  const defer = (work: Promise<void>): void => state.waitUntil(work);
  const options = { defer, log: (message: string) => log("store", { message }) };
  return openDurableObject(state.storage, blocks ? { ...options, blocks } : options);
}

function farStoreOf({ BLOCKS_R2, BLOCKS_KV }: Env): FarStore | undefined {
  if (BLOCKS_R2) return r2Blocks(BLOCKS_R2);
  return BLOCKS_KV ? kvBlocks(BLOCKS_KV) : undefined;
}

/** The object is reached through the Worker only, which has checked who calls. */
function visitorOf(request: Request): Visitor {
  return JSON.parse(decodeURIComponent(request.headers.get(VISITOR_HEADER) ?? "")) as Visitor;
}
