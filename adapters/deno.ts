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

// Deno 2.9 does not abort the signal of a request whose body was more than a few bytes until the answer has begun.
runCli(process.argv.slice(2), { listen, streamSlowCalls: true }, { MCP_TRANSPORT: "streamable-http" });
