/**
 * The stand-in as a command: `node --import tsx test/e2b/cli.ts [--api-port N] [--data-port N]`.
 * Prints one line of JSON with its addresses; ends, and kills its sandboxes, on SIGTERM or when stdin closes.
 */
import { parseArgs } from "node:util";
import { startStandIn } from "./stand-in.ts";

const { values } = parseArgs({
  options: {
    "api-port": { type: "string", default: "0" },
    "data-port": { type: "string", default: "0" },
    "keep-open": { type: "boolean", default: false },
  },
});
const standIn = await startStandIn({ apiPort: Number(values["api-port"]), dataPort: Number(values["data-port"]) });
const { apiUrl, sandboxUrl, apiKey } = standIn;
console.log(JSON.stringify({ apiUrl, sandboxUrl, apiKey }));
const stop = () => void standIn.close().then(() => process.exit(0));
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
if (!values["keep-open"]) process.stdin.once("end", stop).resume();
