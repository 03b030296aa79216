import {
  cleanEnvironment,
  type Environment,
  type Exit,
  type Running,
  SERVER_COMMAND,
  start,
  until,
  within,
} from "./process.ts";

/** Longer than a slow start under load, shorter than a test may take. */
const START_LIMIT_MS = 20_000;
const END_LIMIT_MS = 10_000;

/** A server of ours in a process of its own. */
export type ServerProcess = {
  /** The address of the MCP endpoint. */
  readonly url: URL;
  readonly pid: number;
  readonly running: Running;
  stderr(): string;
  /** Sends a signal, SIGTERM unless told, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
};

/**
 * Starts the HTTP server on a free loopback port, with history in memory unless `env` says otherwise, and waits until it
 * answers. @throws Error with what it wrote to stderr when it ends instead.
 */
export async function startServer(
  env: Environment = {},
  command: readonly [string, ...string[]] = SERVER_COMMAND,
): Promise<ServerProcess> {
  const settings = { MCP_TRANSPORT: "streamable-http", MCP_PORT: "0", REPL_STORAGE: "memory", ...env };
  const running = await start(command, { env: cleanEnvironment(settings), stdio: ["ignore", "pipe", "pipe"] });
  let exit: Exit | undefined;
  running.exited.then((value) => {
    exit = value;
  });
  const url = await until(
    () => {
      if (exit) throw new Error(`The server ended with ${exit.code ?? exit.signal}: ${running.stderr()}`);
      return /serves (http:\S+\/mcp)/.exec(running.stderr())?.[1];
    },
    "the server to say where it serves",
    START_LIMIT_MS,
  ).catch((error: unknown) => {
    running.child.kill("SIGKILL");
    throw error;
  });
  await waitUntilHealthy(url);
  return {
    url: new URL(url),
    pid: running.pid,
    running,
    stderr: running.stderr,
    async stop(signal = "SIGTERM") {
      if (!exit) running.child.kill(signal);
      try {
        return await within(running.exited, END_LIMIT_MS, `the server to end after ${signal}`);
      } finally {
        if (!exit) running.child.kill("SIGKILL");
      }
    },
  };
}

/** Polls `/healthz` beside the MCP endpoint `url`. */
export async function waitUntilHealthy(url: string | URL, limitMs = START_LIMIT_MS): Promise<void> {
  const health = new URL("/healthz", url);
  await until(
    async () => {
      try {
        const { ok } = await fetch(health);
        return ok;
      } catch {
        return undefined; // Nobody listens yet.
      }
    },
    `${health} to answer`,
    limitMs,
  );
}
