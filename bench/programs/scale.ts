import { type Scenario, simulate } from "../scale/simulate.ts";

/** Runs one scenario, given as JSON, and prints what came of it as JSON. */
const outcome = await simulate(JSON.parse(process.argv[2] ?? "{}") as Scenario);
process.stdout.write(JSON.stringify(outcome));
process.exit(0);
