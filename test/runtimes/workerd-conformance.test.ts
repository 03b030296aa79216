import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { RUNS, runAndCompare, summary } from "../conformance/run.ts";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { e2bSettings } from "./setup.ts";
import { startWorkerd, type Workerd } from "./workerd.ts";

/** The official conformance runner finds on workerd what it finds on Node. */
describe("official conformance on workerd", { concurrency: 2 }, () => {
  let standIn: StandIn;
  let workers: { readonly server: Workerd; readonly fixtures: Workerd };
  before(async () => {
    standIn = await startStandIn();
    const env = { ...e2bSettings(standIn), REPL_LOG: "off" };
    workers = {
      server: await startWorkerd({ env }),
      fixtures: await startWorkerd({ env, entry: "test/runtimes/fixture-worker.ts" }),
    };
  });
  after(async () => {
    await Promise.all([workers.server.stop(), workers.fixtures.stop()]);
    await standIn.close();
  });

  for (const run of RUNS) {
    test(run.name, async (context) => {
      const verdict = await runAndCompare(run, workers[run.subject].url);
      context.diagnostic(summary(run.name, verdict));
      assert.deepEqual(verdict.unexpected, [], "checks fail that baseline.json does not list");
      assert.deepEqual(verdict.stale, [], "baseline.json lists checks that pass");
    });
  }
});
