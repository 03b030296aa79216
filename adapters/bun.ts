import { runCli } from "./cli/main.ts";
import type { Listen } from "./http.ts";

/** The little of Bun's API that we use. */
declare const Bun: {
  serve(options: {
    hostname: string;
    port: number;
    /** Seconds; 0: a silent stream is never cut. */
    idleTimeout: number;
    fetch: (request: Request) => Promise<Response>;
  }): { readonly port: number; stop(): Promise<void> };
};

/** Bun's HTTP server. */
const listen: Listen = async (app, hostname, port) => {
  const server = Bun.serve({ hostname, port, idleTimeout: 0, fetch: (request) => app.fetch(request) });
  return { port: server.port, stop: () => void server.stop() };
};

runCli(process.argv.slice(2), { listen }, { MCP_TRANSPORT: "streamable-http" });
