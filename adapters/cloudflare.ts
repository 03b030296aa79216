import { finish } from "../src/app.ts";
import { checkHost, checkOrigin } from "../src/auth/origin.ts";
import { corsPreflight } from "../src/auth/response-headers.ts";
import type { SandboxMeta } from "../src/backends/e2b/backend.ts";
import { ConfigError } from "../src/config.ts";
import { isPagePath, type Visitor } from "../src/web/gate.ts";
import { SWEEP_HEADER, VISITOR_HEADER } from "./cloudflare/owner-object.ts";
import { relayMessage } from "./cloudflare/relay.ts";
import { type Env, type Gate, gateOf, refuseOpenDoor, type Stub } from "./cloudflare/setup.ts";
import { e2bOptions } from "./options.ts";
import { sweep, sweepsByItself } from "./sweep.ts";

export { OwnerObject } from "./cloudflare/owner-object.ts";

/** The little of the platform's types that we use. */
type Context = { waitUntil(work: Promise<unknown>): void };

/** Finds out who calls and hands the request to the object that is that owner. */
async function route(request: Request, env: Env): Promise<Response> {
  const gate = gateOf(env);
  const { authenticator, network, pages } = gate;
  const answer = (response: Response): Response => finish(response, request, gate);
  const url = new URL(request.url);
  const known = refuseOpenDoor(gate.config, url) ?? authenticator.metadata(request);
  if (known) return known;
  const answered = checkHost(request, network) ?? checkOrigin(request, network) ?? corsPreflight(request, network);
  if (answered) return answer(answered);
  if (url.pathname === "/healthz") return answer(Response.json({ status: "ok" }));
  if (isPagePath(url.pathname)) {
    // Logins, and the files of the pages, are answered here: nobody's object is asked before it is known whose.
    const visitor = await pages.admit(request);
    return visitor instanceof Response ? answer(visitor) : forward(request, env, gate, visitor);
  }
  const principal = await authenticator.authenticate(request);
  return principal instanceof Response ? answer(principal) : forward(request, env, gate, { principal });
}

function forward(request: Request, env: Env, gate: Gate, visitor: Visitor): Promise<Response> {
  const headers = new Headers(request.headers);
  headers.delete(SWEEP_HEADER);
  headers.set(VISITOR_HEADER, encodeURIComponent(JSON.stringify(visitor)));
  const stub = objectOf(env, visitor.principal.owner);
  if (request.method === "POST" && new URL(request.url).pathname.startsWith("/mcp")) {
    const refuse = (refusal: Response): Response => finish(refusal, request, gate);
    return relayMessage({ stub, request, headers, maxBodyBytes: gate.config.REPL_MAX_BODY_BYTES, refuse });
  }
  return stub.fetch(new Request(request, { headers, signal: request.signal }));
}

function objectOf(env: Env, owner: string): Stub {
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
    const { config, log } = gateOf(env);
    if (!sweepsByItself(config)) return log("sweep", { skipped: "REPL_DEPLOYMENT names no deployment" });
    const owns = async (meta: SandboxMeta): Promise<boolean> => {
      const headers = { [SWEEP_HEADER]: encodeURIComponent(JSON.stringify(meta)) };
      const response = await objectOf(env, meta.owner).fetch(new Request("https://owner/", { headers }));
      return response.status === 200;
    };
    context.waitUntil(sweep(e2bOptions(config, log), owns));
  },
};
