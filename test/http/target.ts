import { after, before } from "node:test";
import { cleanEnvironment, SERVER_COMMAND } from "../helpers/process.ts";
import { type ServerProcess, startServer, waitUntilHealthy } from "../helpers/server.ts";
import type { Target } from "./client.ts";

/**
 * The server under test over HTTP: the one at `REPL_TEST_URL` when that is set, with `REPL_TEST_TOKEN` as its bearer token,
 * else one that is started for this file and stopped after it.
 */
export function sharedServer(): () => Promise<{
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}> {
  let own: ServerProcess | undefined;
  let url: URL;
  before(async () => {
    const named = process.env.REPL_TEST_URL;
    own = named === undefined ? await startServer() : undefined;
    url = own?.url ?? new URL(named ?? "");
    await waitUntilHealthy(url);
  });
  after(() => own?.stop());
  const token = process.env.REPL_TEST_TOKEN;
  return async () => ({ url, headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
}

/** The server under test over stdio: `REPL_TEST_COMMAND`, or the built one on this Node. */
export function stdioServer(): Promise<Target> {
  const env = cleanEnvironment({ MCP_TRANSPORT: "stdio", REPL_STORAGE: "memory", REPL_LOG: "off" });
  return Promise.resolve({ command: SERVER_COMMAND, env });
}
