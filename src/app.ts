import type { McpServerFactory, ServerEventBus } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { type AuthDependencies, type Authenticator, createAuthenticator } from "./auth/authenticator.ts";
import { checkHost, checkOrigin, type NetworkOptions, networkOptions } from "./auth/origin.ts";
import type { Principal } from "./auth/principal.ts";
import { applyCors, applySecurityHeaders, corsPreflight } from "./auth/response-headers.ts";
import type { Config } from "./config.ts";
import { LineLimit } from "./limits/line-limit.ts";
import { OwnerLimits } from "./limits/owner-limits.ts";
import { type Access, createMcpEndpoint } from "./mcp/endpoint.ts";
import type { SessionMemory } from "./mcp/legacy.ts";
import { createServerFactory, type RequestIdentity } from "./mcp/server.ts";
import type { ReplySettings } from "./mcp/tool.ts";
import type { SessionService } from "./sessions/service.ts";
import { VERSION } from "./version.ts";
import { createGate, type Visitor } from "./web/gate.ts";
import { createPages, type PageBindings } from "./web/pages.ts";

export type AppDependencies = {
  readonly config: Config;
  readonly service: SessionService;
  readonly settings: ReplySettings;
  readonly log: (event: string, detail?: Readonly<Record<string, unknown>>) => void;
  /** Address that is listened on; absent where the platform listens. */
  readonly bind?: string;
  readonly keepAliveMs?: number;
  /** Where only a write shows that a client is gone: calls that take a while answer by a stream. */
  readonly streamSlowCalls?: boolean;
  /** Who is calling, where someone in front has found that out already; replaces the authenticator. */
  readonly identify?: (request: Request) => Promise<Principal | Response>;
  /** Who visits the pages, where someone in front has found that out already. */
  readonly visit?: (request: Request) => Promise<Visitor>;
  readonly authDependencies?: Partial<AuthDependencies>;
  /** Replaces our MCP server, for tests of the transports around it. */
  readonly factory?: McpServerFactory;
  /** Where such a server tells subscribers what changed; ours never does. */
  readonly bus?: ServerEventBus;
  /** Where MCP sessions of 2025 clients outlive the process. */
  readonly mcpSessions?: SessionMemory;
};

export type App = {
  /** @param defer Keeps the runtime awake for work that outlives the reply (`waitUntil`). */
  fetch(request: Request, defer?: (work: Promise<unknown>) => void): Promise<Response>;
  /** Ends open MCP streams; the service is closed by who made it. */
  close(): Promise<void>;
};

const KEEP_ALIVE_MS = 15_000;

/** What is known of a request on its way through the app. */
type RequestContext = PageBindings["Bindings"] & {
  readonly requestId: string;
  /** Once it is known. */
  owner: string | undefined;
};

/** The whole HTTP surface: guards, authentication, then MCP. */
export function createApp(dependencies: AppDependencies): App {
  const { config } = dependencies;
  const log = thinned(dependencies.log);
  const network = networkOf(dependencies);
  const authenticator = createAuthenticator(config.auth, dependencies.authDependencies);
  const identify = dependencies.identify ?? ((request) => authenticator.authenticate(request));
  const limits = ownerLimitsOf(config);
  const endpoint = createMcpEndpoint({
    factory: dependencies.factory ?? createServerFactory({ ...dependencies, logCode: config.REPL_LOG === "debug" }),
    maxBodyBytes: config.REPL_MAX_BODY_BYTES,
    keepAliveMs: dependencies.keepAliveMs ?? KEEP_ALIVE_MS,
    streamSlowCalls: dependencies.streamSlowCalls ?? false,
    now: Date.now,
    onerror: (error) => log("protocol", { error: error.message }),
    ...(dependencies.bus ? { bus: dependencies.bus } : {}),
    ...(dependencies.mcpSessions ? { memory: dependencies.mcpSessions } : {}),
  });

  const app = new Hono<{ Bindings: RequestContext }>({ strict: false });
  app.get("/healthz", () => Response.json({ status: "ok", version: VERSION }));
  app.get("/.well-known/*", ({ req }) => authenticator.metadata(req.raw) ?? notFound());

  type Serve = (request: Request, access: Access) => Promise<Response>;
  const guarded = (serve: Serve) => async (request: Request, context: RequestContext) => {
    const principal = await identify(request);
    if (principal instanceof Response) return principal;
    const { owner, scopes } = principal;
    context.owner = owner;
    const path = new URL(request.url).pathname;
    const access: Access = {
      authInfo: authInfoOf(principal, context),
      scopes,
      insufficientScope: (scope) => authenticator.insufficientScope(path, scope),
      count: (further) => limits.count(owner, further),
    };
    return limits.serve(owner, () => serve(request, access));
  };
  const routes = [
    [["GET", "POST", "DELETE"], "/mcp", guarded(endpoint.mcp)],
    [["GET"], "/sse", guarded(endpoint.sse)],
    [["POST"], "/messages", guarded(endpoint.messages)],
  ] as const;
  for (const [methods, path, serve] of routes) {
    app.on([...methods], path, ({ req, env }) => serve(req.raw, env));
    app.all(path, () => methodNotAllowed(methods));
  }
  app.route("/", pagesOf(dependencies, authenticator, network, limits));
  app.notFound(() => notFound());
  app.onError((error, { env }) => {
    log("request failed", { request: env.requestId, error: error.stack ?? error.message });
    return Response.json({ error: "The server failed on this request; its log has the cause" }, { status: 500 });
  });

  return {
    async fetch(request, defer) {
      const context: RequestContext = { defer, requestId: crypto.randomUUID(), owner: undefined };
      const refused = checkHost(request, network) ?? checkOrigin(request, network) ?? corsPreflight(request, network);
      return finish(refused ?? (await app.fetch(request, context)), request, { network, log }, context);
    },
    close: () => endpoint.close(),
  };
}

function pagesOf(
  { config, service, visit, log }: AppDependencies,
  authenticator: Authenticator,
  network: NetworkOptions,
  limits: OwnerLimits,
): Hono<PageBindings> {
  const gate = createGate({ authenticator, network, sealKey: config.REPL_SEAL_KEY });
  return createPages({
    service,
    gate,
    admit: visit ?? ((request) => gate.admit(request)),
    limit: (owner) => limits.count(owner),
    maxFormBytes: config.REPL_MAX_BODY_BYTES,
    log,
  });
}

/** What strangers with a token may do when the settings do not say; without authentication there are no strangers. */
const RATE_PER_MINUTE = 600;
const OPEN_REQUESTS = 500;

function ownerLimitsOf({ auth, REPL_RATE_PER_MINUTE, REPL_MAX_OPEN_REQUESTS }: Config): OwnerLimits {
  const strangers = auth.mode !== "none";
  return new OwnerLimits({
    perMinute: REPL_RATE_PER_MINUTE ?? (strangers ? RATE_PER_MINUTE : 0),
    open: REPL_MAX_OPEN_REQUESTS ?? (strangers ? OPEN_REQUESTS : 0),
  });
}

/** Answers to who may not come in, or not so often: an operator wants to see them. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 413, 429]);
const MAX_PATH = 200;
const TOO_MANY = 429;
/** Milliseconds between lines about requests of an owner that were too many: a flood of them is not one of the log. */
const TOO_MANY_LINE_MS = 1000;

function thinned(log: AppDependencies["log"]): AppDependencies["log"] {
  const lines = new LineLimit(TOO_MANY_LINE_MS);
  return (event, detail) => {
    if (event !== "refused" || detail?.status !== TOO_MANY) return log(event, detail);
    const more = lines.take(String(detail.owner));
    if (more !== undefined) log(event, more === 0 ? detail : { ...detail, more });
  };
}

function networkOf({ config, bind }: AppDependencies): NetworkOptions {
  return networkOptions({
    ...(bind === undefined ? {} : { bind }),
    ...(config.REPL_PUBLIC_URL === undefined ? {} : { publicUrl: config.REPL_PUBLIC_URL }),
    hosts: config.REPL_ALLOWED_HOSTS,
    origins: config.REPL_ALLOWED_ORIGINS,
    authenticated: config.auth.mode !== "none",
  });
}

function authInfoOf(principal: Principal, { defer, requestId }: RequestContext): Access["authInfo"] {
  const name = principal.owner === "local" ? {} : { name: principal.name };
  const identity: RequestIdentity = {
    caller: { owner: principal.owner, ...name, request: requestId },
    scopes: principal.scopes,
    ...(defer ? { defer } : {}),
  };
  const { authInfo } = principal;
  return { token: "", clientId: principal.name, scopes: [...principal.scopes], ...authInfo, extra: { identity } };
}

/** Gives an answer what every answer has: its headers, an id, a line in the log when it is a refusal. */
export function finish(
  response: Response,
  request: Request,
  { network, log }: { readonly network: NetworkOptions; readonly log: AppDependencies["log"] },
  { requestId, owner }: Pick<RequestContext, "requestId" | "owner"> = {
    requestId: crypto.randomUUID(),
    owner: undefined,
  },
): Response {
  const answer = changeable(response);
  applyCors(answer.headers, request, network);
  applySecurityHeaders(answer.headers, network, answer.headers.get("content-security-policy") ?? undefined);
  answer.headers.set("X-Request-Id", requestId);
  if (REFUSALS.has(answer.status)) {
    // The query is left out: some put tokens there.
    const path = new URL(request.url).pathname.slice(0, MAX_PATH);
    log("refused", { request: requestId, owner, method: request.method, path, status: answer.status });
  }
  return answer;
}

/** The response itself where its headers can be changed: a copy takes Node's adapter off its fast path. */
function changeable(response: Response): Response {
  try {
    response.headers.set("X-Content-Type-Options", "nosniff");
    return response;
  } catch {
    return new Response(response.body, response); // A redirect, or an answer of fetch.
  }
}

function notFound(): Response {
  return Response.json({ error: "Nothing is here; the MCP endpoint is /mcp" }, { status: 404 });
}

function methodNotAllowed(methods: readonly string[]): Response {
  const error = `This path takes ${methods.join(", ")}`;
  return Response.json({ error }, { status: 405, headers: { allow: methods.join(", ") } });
}
