import { runCli } from "./cli/main.ts";
import { listen } from "./node.ts";

/** The package's bin: stdio unless told otherwise. */
runCli(process.argv.slice(2), { listen });
