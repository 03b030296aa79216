import { type App, createApp, withHeaders } from "../src/app.ts";
import { type Authenticator, createAuthenticator } from "../src/auth/authenticator.ts";
import { checkHost, checkOrigin, type NetworkOptions, networkOptions } from "../src/auth/origin.ts";
import { corsPreflight } from "../src/auth/response-headers.ts";
import { createE2bBackend, type SandboxMeta } from "../src/backends/e2b/backend.ts";
import { type Config, ConfigError, parseConfig } from "../src/config.ts";
import { createSessionService } from "../src/sessions/service.ts";
import { createHistoryStore } from "../src/store/history-store.ts";
import { createLocalLocks } from "../src/store/locks.ts";
import { createGate, isPagePath, type Gate as PageGate, type Visitor } from "../src/web/gate.ts";
import { type DurableObjectStorage, openDurableObject } from "./drivers/durable-object.ts";
import { createLog } from "./log.ts";
import { e2bOptions, limitsOf, replySettingsOf } from "./options.ts";
import { ownedBy, sweep } from "./sweep.ts";

/** The little of the platform's types that we use. */
type Namespace = {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
};
type Env = Readonly<Record<string, unknown>> & { readonly OWNERS: Namespace };
type Context = { waitUntil(work: Promise<unknown>): void };
type ObjectState = Context & { readonly storage: DurableObjectStorage };

/** Set by the Worker alone: it is overwritten on every request, so a client's own never gets through. */
const VISITOR_HEADER = "x-edge-repl-visitor";

/** Asks an object whether it owns a sandbox; never forwarded from a client. */
const SWEEP_HEADER = "x-edge-repl-sweep";

/** On Workers only a write shows that a client is gone, so silent streams are written to this often. */
const KEEP_ALIVE_MS = 2000;

function configOf(env: Env): Config {
  const texts = Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return parseConfig({ REPL_BACKEND: "e2b", ...Object.fromEntries(texts) });
}

type Gate = {
  readonly config: Config;
  readonly authenticator: Authenticator;
  readonly network: NetworkOptions;
  readonly pages: PageGate;
};

/** Settings do not change while an isolate lives. */
const gates = new WeakMap<Env, Gate>();

function gateOf(env: Env): Gate {
  let gate = gates.get(env);
  if (!gate) {
    const config = configOf(env);
    const authenticator = createAuthenticator(config.auth, { shareFetches: false });
    const network = networkOf(config);
    const pages = createGate({ authenticator, network, sealKey: config.REPL_SEAL_KEY, shared: true });
    gate = { config, authenticator, network, pages };
    gates.set(env, gate);
  }
  return gate;
}

function networkOf(config: Config): NetworkOptions {
  return networkOptions({
    ...(config.REPL_PUBLIC_URL === undefined ? {} : { publicUrl: config.REPL_PUBLIC_URL }),
    hosts: config.REPL_ALLOWED_HOSTS,
    origins: config.REPL_ALLOWED_ORIGINS,
    authenticated: config.auth.mode !== "none",
  });
}

/** Finds out who calls and hands the request to the object that is that owner. */
async function route(request: Request, env: Env): Promise<Response> {
  const { authenticator, network, pages } = gateOf(env);
  const url = new URL(request.url);
  const known = authenticator.metadata(request);
  if (known) return known;
  const answered = checkHost(request, network) ?? checkOrigin(request, network) ?? corsPreflight(request, network);
  if (answered) return answered;
  if (url.pathname === "/healthz") return Response.json({ status: "ok" });
  if (isPagePath(url.pathname)) {
    // Logins, and the files of the pages, are answered here: nobody's object is asked before it is known whose.
    const visitor = await pages.admit(request);
    return visitor instanceof Response ? withHeaders(visitor, request, network) : forward(request, env, visitor);
  }
  const principal = await authenticator.authenticate(request);
  return principal instanceof Response ? principal : forward(request, env, { principal });
}

function forward(request: Request, env: Env, visitor: Visitor): Promise<Response> {
  const headers = new Headers(request.headers);
  headers.delete(SWEEP_HEADER);
  headers.set(VISITOR_HEADER, encodeURIComponent(JSON.stringify(visitor)));
  const { signal } = request;
  return objectOf(env, visitor.principal.owner).fetch(new Request(request, { headers, signal }));
}

function objectOf(env: Env, owner: string): { fetch(request: Request): Promise<Response> } {
  return env.OWNERS.get(env.OWNERS.idFromName(owner));
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    try {
      return await route(request, env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return Response.json({ error: `The server is not set up: ${error.message}` }, { status: 503 });
    }
  },

  /** Cron: ends sandboxes that no session owns. */
  async scheduled(_event: unknown, env: Env, context: Context): Promise<void> {
    const { config } = gateOf(env);
    const log = createLog(config.REPL_LOG, (line) => console.error(line.trimEnd()));
    const owns = async (meta: SandboxMeta): Promise<boolean> => {
      const headers = { [SWEEP_HEADER]: encodeURIComponent(JSON.stringify(meta)) };
      const response = await objectOf(env, meta.owner).fetch(new Request("https://owner/", { headers }));
      return response.status === 200;
    };
    context.waitUntil(sweep(e2bOptions(config, log), owns));
  },
};

/** One object is one owner: the whole app over storage of its own, so that all isolates see the same sessions. */
export class OwnerObject {
  readonly #state: ObjectState;
  readonly #app: App;
  readonly #owns: (meta: SandboxMeta) => Promise<boolean>;

  constructor(state: ObjectState, env: Env) {
    this.#state = state;
    const config = configOf(env);
    const log = createLog(config.REPL_LOG, (line) => console.error(line.trimEnd()));
    const { storage, maxValueBytes } = openDurableObject(state.storage);
    const store = createHistoryStore({ storage, locks: createLocalLocks(), exclusive: true, maxValueBytes });
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
      keepAliveMs: KEEP_ALIVE_MS,
      responseMode: "sse",
      identify: async (request) => visitorOf(request).principal,
      visit: async (request) => visitorOf(request),
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

/** The object is reached through the Worker only, which has checked who calls. */
function visitorOf(request: Request): Visitor {
  return JSON.parse(decodeURIComponent(request.headers.get(VISITOR_HEADER) ?? "")) as Visitor;
}
