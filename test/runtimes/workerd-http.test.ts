import { after, before, describe, test } from "node:test";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { RAW_CHECKS } from "../http/checks-raw.ts";
import { describeChecks } from "../http/suite.ts";
import { e2bSettings, LEGACY, MODERN } from "./setup.ts";
import { startWorkerd, type Workerd } from "./workerd.ts";

/** All that holds for every server holds for the Worker with its sandboxes. */

let standIn: StandIn;
let worker: Workerd;
before(async () => {
  standIn = await startStandIn({ maxConcurrent: 50 });
  worker = await startWorkerd({ env: { ...e2bSettings(standIn), REPL_LOG: "off" } });
});
after(async () => {
  await worker.stop();
  await standIn.close();
});

for (const leg of [MODERN, LEGACY]) describeChecks(leg, async () => ({ url: worker.url }));

describe("HTTP surface", { concurrency: 4 }, () => {
  for (const { id, run } of RAW_CHECKS) test(id, { timeout: 45_000 }, () => run(worker.url));
});
