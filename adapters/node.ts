import { createAdaptorServer } from "@hono/node-server";
import { type App, createApp } from "../src/app.ts";
import { isLoopbackHost } from "../src/auth/safe-url.ts";
import type { Config } from "../src/config.ts";
import { banner } from "./banner.ts";
import { compose, StartError } from "./compose.ts";
import { createLog } from "./log.ts";
import { replySettingsOf } from "./options.ts";
import { onSignals } from "./signals.ts";

/** Running code may go on this long after a signal before it is interrupted. */
const GRACE_MS = 1000;

/** Serves MCP over HTTP until a signal comes. @throws StartError when it cannot, with what to change. */
export async function serveHttp(config: Config): Promise<void> {
  refuseOpenDoor(config);
  const log = createLog(config.REPL_LOG, (line) => process.stderr.write(line));
  const composition = await compose(config, log);
  const app = createApp({
    config,
    service: composition.service,
    settings: replySettingsOf(config),
    log,
    bind: config.MCP_HOST,
  });
  const server = await listen(app, config);
  process.stderr.write(banner(config, composition, server.port));
  onSignals(async () => {
    server.stop();
    await composition.close(GRACE_MS);
    await app.close();
  });
}

/** The subprocess backend runs code with the rights of this user: nobody else may reach it without a token. */
export function refuseOpenDoor(config: Config): void {
  if (config.REPL_BACKEND === "e2b" || isLoopbackHost(config.MCP_HOST)) return;
  if (config.auth.mode === "none") {
    throw new StartError(
      `MCP_HOST=${config.MCP_HOST} would let anyone on the network run code on this machine: ` +
        "set REPL_AUTH to token or oauth, or MCP_HOST to 127.0.0.1",
    );
  }
  if (config.REPL_SANDBOX === "off") {
    process.stderr.write(
      "edge-python-repl: warning: callers with a token run code with all rights of this user; REPL_SANDBOX=bwrap confines it\n",
    );
  }
}

type Listening = { readonly port: number; stop(): void };

function listen(app: App, { MCP_HOST: hostname, MCP_PORT: port }: Config): Promise<Listening> {
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request) });
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(error, hostname, port)));
    server.listen(port, hostname, () => {
      const address = server.address();
      resolve({ port: typeof address === "object" && address ? address.port : port, stop: () => void server.close() });
    });
  });
}

function cannotListen(error: NodeJS.ErrnoException, hostname: string, port: number): StartError {
  if (error.code === "EADDRINUSE") {
    return new StartError(`Port ${port} of ${hostname} is taken; set MCP_PORT to a free one`);
  }
  return new StartError(`Cannot listen on ${hostname}:${port} (${error.code}); set MCP_HOST and MCP_PORT`);
}
