import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Backend } from "../../src/core/backend.ts";
import { BACKEND_CHECKS } from "./backend-checks.ts";
import { missingNeed } from "./backend-contract.ts";
import { faultsOf } from "./backend-faults.ts";
import { createOracle, type Fault } from "./backend-oracle.ts";
import { runCheck } from "./backend-run.ts";
import { type BackendCheck, type CellStep, flatten } from "./backend-steps.ts";

const LIMIT_MS = 5000;

async function passes(backend: Backend, check: BackendCheck, limitMs = LIMIT_MS): Promise<boolean> {
  return runCheck(backend, check, limitMs).then(
    () => true,
    () => false,
  );
}

async function failing(backend: Backend): Promise<string[]> {
  const ids = await Promise.all(
    BACKEND_CHECKS.map(async (check) => ((await passes(backend, check)) ? [] : [check.id])),
  );
  return ids.flat();
}

describe("the backend contract as a suite", () => {
  test("names each check once", () => {
    const ids = BACKEND_CHECKS.map(({ id }) => id);
    assert.deepEqual([...new Set(ids)], ids);
  });

  test("passes for a backend that answers as wanted", async () => {
    assert.deepEqual(await failing(createOracle(BACKEND_CHECKS)), []);
  });

  for (const check of BACKEND_CHECKS) {
    test(`${check.id} notices every fault, and it alone`, async () => {
      const faults = flatten(check.steps).flatMap(faultsOf);
      const unnoticed = await Promise.all(
        faults.map(async (fault) =>
          (await passes(createOracle([check], fault), check)) ? [describeFault(check, fault)] : [],
        ),
      );
      assert.deepEqual(unnoticed.flat(), []);
      const [first] = faults;
      assert.ok(first, "There is nothing that it could notice");
      assert.deepEqual(await failing(createOracle(BACKEND_CHECKS, first)), [check.id]);
    });
  }
});

function describeFault(check: BackendCheck, fault: Fault): string {
  return `step ${flatten(check.steps).indexOf(fault.step) + 1}: ${fault.what}`;
}

describe("the runner of checks", () => {
  const cell: CellStep = { run: "1", value: "1", withinMs: 30 };
  const slow: BackendCheck = { id: "slow", steps: [cell] };
  const delayed = (delayMs: number, step = cell): Fault => ({
    step,
    what: "slow",
    answer: (right) => ({ ...right, delayMs }),
  });

  test("notices a reply that comes too late", async () => {
    await assert.rejects(runCheck(createOracle([slow], delayed(60)), slow, LIMIT_MS), /It took \d+ ms/);
  });

  test("notices kernels that wait for each other", async () => {
    const patient: CellStep = { run: "1", value: "1" };
    const both: BackendCheck = { id: "both", steps: [{ together: [patient, { ...patient, on: "b" }], withinMs: 30 }] };
    await runCheck(createOracle([both]), both, LIMIT_MS);
    await assert.rejects(
      runCheck(createOracle([both], delayed(60, patient)), both, LIMIT_MS),
      /Together they took \d+ ms/,
    );
  });

  test("notices a reply that never comes, and names the step", async () => {
    await assert.rejects(runCheck(createOracle([slow], delayed(300)), slow, 50), /No end of step 1 of slow/);
  });

  test("skips only by a capability that the backend lacks", async () => {
    const oracle = createOracle([]);
    const supports = { ...oracle.supports, files: false };
    const check: BackendCheck = { id: "x", needs: ["files"], steps: [] };
    assert.equal(await missingNeed({ ...oracle, supports }, check), "needs files");
    assert.equal(await missingNeed(oracle, check), undefined);
  });
});
