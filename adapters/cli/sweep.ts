import { ConfigError, parseConfig } from "../../src/config.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { openStorage } from "../drivers/open.ts";
import { createLog } from "../log.ts";
import { e2bOptions } from "../options.ts";
import { ownedBy, sweep } from "../sweep.ts";

/**
 * Runs `edge-python-repl sweep`: ends the E2B sandboxes of this deployment that no session of the store owns.
 * @returns The exit code: 0, or 2 when a setting is bad.
 */
export async function sweepCommand(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    process.stderr.write("edge-python-repl: sweep takes no arguments; its settings come from the environment\n");
    return 2;
  }
  try {
    const config = parseConfig(process.env);
    const options = e2bOptions(
      config,
      createLog(config.REPL_LOG, (line) => process.stderr.write(line)),
    );
    const opened = await openStorage(config.REPL_STORAGE, process.env);
    const store = createHistoryStore(opened);
    const ended = await sweep(options, (meta) => ownedBy(store, meta));
    await opened.close();
    process.stdout.write(`Ended ${ended} sandboxes that no session owns\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`edge-python-repl: ${error instanceof Error ? error.message : error}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
}
