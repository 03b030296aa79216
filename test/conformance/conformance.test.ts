import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { RUNS, runAndCompare, type Subjects, startSubjects, summary } from "./run.ts";

/** The official conformance runner finds nothing that `baseline.json` does not explain. */
describe("official conformance", { concurrency: 2 }, () => {
  let subjects: Subjects;
  before(async () => {
    subjects = await startSubjects();
  });
  after(() => subjects.close());

  for (const run of RUNS) {
    test(run.name, async (context) => {
      const verdict = await runAndCompare(run, subjects.urls[run.subject]);
      context.diagnostic(summary(run.name, verdict));
      assert.deepEqual(verdict.unexpected, [], "checks fail that baseline.json does not list");
      assert.deepEqual(verdict.stale, [], "baseline.json lists checks that pass");
    });
  }
});
