import { runCli } from "./cli/main.ts";
import type { Listen } from "./http.ts";

/** The little of Deno's API that we use. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
};

/** Deno's HTTP server. */
const listen: Listen = async (app, hostname, port) => {
  const options = { hostname, port, onListen: () => undefined };
  const server = Deno.serve(options, (request) => app.fetch(request));
  return { port: server.addr.port, stop: () => void server.shutdown() };
};

runCli(process.argv.slice(2), listen, { MCP_TRANSPORT: "streamable-http" });
