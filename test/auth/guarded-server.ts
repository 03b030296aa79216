import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { type AuthDependencies, createAuthenticator } from "../../src/auth/authenticator.ts";
import { hasScope, type Principal } from "../../src/auth/principal.ts";
import { parseAuthSettings } from "../../src/auth/settings.ts";

/** A server behind the authenticator, whose two tools only tell who called. */
export type GuardedServer = {
  readonly origin: string;
  readonly mcp: string;
  /** Milliseconds that the server's clock is ahead. */
  ahead: number;
  /** Lines of the authenticator's log. */
  readonly logs: string[];
  close(): Promise<void>;
};

/** @param settings Those of authentication; the public URL is the server's own. */
export async function startGuardedServer(settings: Readonly<Record<string, string>>): Promise<GuardedServer> {
  let app: App | undefined;
  const server = createServer(
    getRequestListener((request) => app?.fetch(request) ?? new Response(null, { status: 503 })),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const guarded: GuardedServer = {
    origin,
    mcp: `${origin}/mcp`,
    ahead: 0,
    logs: [],
    close: async () => {
      await app?.close();
      await closeServer(server);
    },
  };
  const authDependencies: Partial<AuthDependencies> = {
    now: () => Date.now() + guarded.ahead,
    log: (message) => void guarded.logs.push(message),
  };
  app = createGuardedApp({ ...settings, REPL_PUBLIC_URL: origin }, authDependencies);
  return guarded;
}

type App = { fetch(request: Request): Promise<Response>; close(): Promise<void> };

/** The smallest app around the authenticator: metadata, who is calling, the scope of a call, then MCP. */
function createGuardedApp(settings: Readonly<Record<string, string>>, dependencies: Partial<AuthDependencies>): App {
  const authenticator = createAuthenticator(parseAuthSettings(settings), dependencies);
  const handler = createMcpHandler(({ authInfo }) => whoAmI(authInfo));
  return {
    close: () => handler.close(),
    async fetch(request) {
      const metadata = authenticator.metadata(request);
      if (metadata !== undefined) return metadata;
      const principal = await authenticator.authenticate(request);
      if (principal instanceof Response) return principal;
      const parsedBody = request.method === "POST" ? await request.json() : undefined;
      const needed = parsedBody?.params?.name === "run_code" ? "repl:run" : "repl:read";
      if (!hasScope(principal, needed)) return authenticator.insufficientScope("/mcp", needed);
      return handler.fetch(request, { parsedBody, authInfo: authInfoOf(principal) });
    },
  };
}

function authInfoOf({ owner, name, scopes, authInfo }: Principal): NonNullable<Principal["authInfo"]> {
  const identity = { caller: { owner, name }, scopes };
  return { token: "", clientId: name, scopes: [...scopes], ...authInfo, extra: { identity } };
}

/** `list_sessions` needs `repl:read`, `run_code` needs `repl:run`; both answer with the caller. */
function whoAmI(authInfo: unknown): Server {
  const server = new Server({ name: "who-am-i", version: "1.0.0" }, { capabilities: { tools: {} } });
  const inputSchema = { type: "object" } as const;
  server.setRequestHandler("tools/list", () => ({
    tools: ["list_sessions", "run_code"].map((name) => ({ name, inputSchema })),
  }));
  server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: JSON.stringify(authInfo) }] }));
  return server;
}

async function closeServer(server: HttpServer): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}
