import { runCli } from "./cli/main.ts";
import type { HttpRuntime, Listen } from "./http.ts";

/** The little of Deno's API that we use. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
  readonly permissions: { querySync(permission: { name: string }): { readonly state: string } };
  readonly env: { get(name: string): string | undefined };
};

/** Deno's HTTP server. */
const listen: Listen = async (app, hostname, port) => {
  const options = { hostname, port, onListen: () => undefined };
  const server = Deno.serve(options, (request) => app.fetch(request));
  return { port: server.addr.port, stop: () => void server.shutdown() };
};

const PERMISSIONS = ["env", "net", "read", "write", "run", "sys"];

/** Deno tells some denials as if a file or program were not there, so that all permissions it lacks are named. */
function explain(error: unknown): string | undefined {
  const lacking = PERMISSIONS.filter((name) => Deno.permissions.querySync({ name }).state !== "granted");
  if (!(error instanceof Error) || error.name === "ConfigError" || lacking.length === 0) return undefined;
  return `${error.message} (Deno runs without full ${lacking.map((name) => `--allow-${name}`).join(", ")})`;
}

/** Some denials come to light in code of Deno's that nobody waits for. */
globalThis.addEventListener("unhandledrejection", (event) => {
  if ((event.reason as Error | undefined)?.name !== "NotCapable") return;
  event.preventDefault();
  process.stderr.write(`edge-python-repl: ${explain(event.reason)}\n`);
  process.exit(2);
});

/** On Deno Deploy others reach the server, there is no Python, and nothing stays on the disk. */
function defaults(): Record<string, string> {
  const http = { MCP_TRANSPORT: "streamable-http" };
  const mayAsk = Deno.permissions.querySync({ name: "env" }).state === "granted";
  const isDeploy = mayAsk && Deno.env.get("DENO_DEPLOYMENT_ID") !== undefined;
  return isDeploy ? { ...http, MCP_HOST: "0.0.0.0", REPL_BACKEND: "e2b", REPL_STORAGE: "deno-kv:" } : http;
}

// Deno 2.9 does not abort the signal of a request whose body was more than a few bytes until the answer has begun.
const runtime: HttpRuntime = { listen, streamSlowCalls: true, explain };

runCli(process.argv.slice(2), runtime, defaults());
