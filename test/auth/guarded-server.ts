import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Server } from "@modelcontextprotocol/server";
import { type App, createApp } from "../../src/app.ts";
import type { AuthDependencies } from "../../src/auth/authenticator.ts";
import { parseConfig } from "../../src/config.ts";
import type { SessionService } from "../../src/sessions/service.ts";

/** The product's HTTP surface with two tools that only tell who called. */
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

/** The product's whole HTTP surface, over a factory of ours in place of Python sessions. */
function createGuardedApp(
  settings: Readonly<Record<string, string>>,
  authDependencies: Partial<AuthDependencies>,
): App {
  return createApp({
    config: parseConfig(settings),
    // Not reached: the factory replaces all that would use it.
    service: {} as SessionService,
    settings: { structured: "full", echo: true, replyChars: 1000 },
    log: () => undefined,
    bind: "127.0.0.1",
    factory: whoAmI,
    authDependencies,
  });
}

/** `list_sessions` needs `repl:read`, `run_code` needs `repl:run`; both answer with the caller. */
function whoAmI(): Server {
  const server = new Server({ name: "who-am-i", version: "1.0.0" }, { capabilities: { tools: {} } });
  const inputSchema = { type: "object" } as const;
  server.setRequestHandler("tools/list", () => ({
    tools: ["list_sessions", "run_code"].map((name) => ({ name, inputSchema })),
  }));
  server.setRequestHandler("tools/call", (_request, { http }) => ({
    content: [{ type: "text", text: JSON.stringify(http?.authInfo) }],
  }));
  return server;
}

async function closeServer(server: HttpServer): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}
