import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Config } from "../src/config.ts";
import { createServerFactory, LOCAL } from "../src/mcp/server.ts";
import { compose } from "./compose.ts";
import { createLog } from "./log.ts";
import { replySettingsOf } from "./options.ts";
import { onSignals } from "./signals.ts";

/** Serves MCP on stdin and stdout until stdin ends or a signal comes. Nothing else may write to stdout. */
export async function serveOverStdio(config: Config): Promise<void> {
  const log = createLog(config.REPL_LOG, (line) => process.stderr.write(line));
  const { service, python, history, close } = await compose(config, log);
  log("start", { transport: "stdio", python, history });
  const factory = createServerFactory({
    service,
    settings: replySettingsOf(config),
    log,
    everyone: LOCAL,
    logCode: config.REPL_LOG === "debug",
  });
  const handle = serveStdio(factory, { onerror: (error) => log("protocol", { error: error.message }) });
  const stop = onSignals(async () => {
    await close(0);
    await handle.close();
  });
  process.stdin.once("end", stop);
  process.stdin.once("close", stop);
  process.stdout.once("error", stop);
}
