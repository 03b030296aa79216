import { type App, createApp } from "../src/app.ts";
import { isLoopbackHost } from "../src/auth/safe-url.ts";
import type { Config } from "../src/config.ts";
import { banner } from "./banner.ts";
import { compose, StartError } from "./compose.ts";
import { createLog } from "./log.ts";
import { replySettingsOf } from "./options.ts";
import { onSignals } from "./signals.ts";

export type Listening = {
  readonly port: number;
  /** Takes no new connections; those that are open go on. */
  stop(): void;
};

/** Starts a runtime's HTTP server. @throws Error with `code` `EADDRINUSE` when the port is taken. */
export type Listen = (app: App, hostname: string, port: number) => Promise<Listening>;

/** What the HTTP servers of runtimes differ in. */
export type HttpRuntime = {
  readonly listen: Listen;
  /** Where a client that left is noticed only while the answer is a stream. */
  readonly streamSlowCalls?: boolean;
  /** What the runtime knows about why the server cannot start; undefined when it is not the reason. */
  readonly explain?: (error: unknown) => string | undefined;
};

/** Running code may go on this long after a signal before it is interrupted. */
const GRACE_MS = 1000;

/** Serves MCP over HTTP until a signal comes. @throws StartError when it cannot, with what to change. */
export async function serveHttp(config: Config, runtime: HttpRuntime): Promise<void> {
  refuseOpenDoor(config);
  const log = createLog(config.REPL_LOG, (line) => process.stderr.write(line));
  const composition = await compose(config, log);
  const app = createApp({
    config,
    service: composition.service,
    settings: replySettingsOf(config),
    log,
    authDependencies: { log: (line) => log("authentication", { line }) },
    bind: config.MCP_HOST,
    ...(composition.mcpSessions ? { mcpSessions: composition.mcpSessions } : {}),
    ...(runtime.streamSlowCalls ? { streamSlowCalls: true } : {}),
  });
  const server = await runtime.listen(app, config.MCP_HOST, config.MCP_PORT).catch(async (error: unknown) => {
    await composition.close(0);
    throw cannotListen(error, config);
  });
  process.stderr.write(banner(config, composition, server.port));
  onSignals(async () => {
    server.stop();
    await composition.close(GRACE_MS);
    await app.close();
  });
}

/** Code runs with the rights of this user, or at their cost: nobody else may reach it without a token. */
export function refuseOpenDoor(config: Config): void {
  if (isLoopbackHost(config.MCP_HOST)) return;
  if (config.auth.mode === "none") {
    const where = config.REPL_BACKEND === "e2b" ? "at your cost" : "on this machine";
    throw new StartError(
      `MCP_HOST=${config.MCP_HOST} would let anyone on the network run code ${where}: ` +
        "set REPL_AUTH to token or oauth, or MCP_HOST to 127.0.0.1",
    );
  }
  if (config.REPL_BACKEND !== "e2b" && config.REPL_SANDBOX === "off") {
    process.stderr.write(
      "edge-python-repl: warning: callers with a token run code with all rights of this user; REPL_SANDBOX=bwrap confines it\n",
    );
  }
}

function cannotListen(error: unknown, { MCP_HOST, MCP_PORT }: Config): StartError {
  const { code, message } = error as { code?: string; message?: string };
  if (code === "EADDRINUSE" || /address already in use|addrinuse/i.test(message ?? "")) {
    return new StartError(`Port ${MCP_PORT} of ${MCP_HOST} is taken; set MCP_PORT to a free one`);
  }
  return new StartError(`Cannot listen on ${MCP_HOST}:${MCP_PORT} (${code ?? message}); set MCP_HOST and MCP_PORT`);
}
