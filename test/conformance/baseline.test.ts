import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "./baseline.ts";
import type { ScenarioResult } from "./official.ts";

const found: ScenarioResult[] = [
  { scenario: "ping", checks: new Map([["answers", { passed: true, message: "" }]]) },
  { scenario: "tasks", checks: new Map([["starts", { passed: false, message: "No such tool" }]]) },
];

test("a failed check that is not listed is unexpected", () => {
  const verdict = compare("a run", found, []);
  assert.deepEqual(verdict.unexpected, ["tasks/starts: No such tool"]);
  assert.equal(verdict.passed, 1);
});

test("a failed check that is listed is expected", () => {
  const verdict = compare("a run", found, [{ run: "a run", reason: "Not built", checks: ["tasks/starts"] }]);
  assert.deepEqual(verdict, { passed: 1, expected: 1, unexpected: [], stale: [] });
});

test("a listed check that passes, or is not made any more, is stale", () => {
  const listed = ["tasks/starts", "ping/answers", "gone/check"];
  const { stale } = compare("a run", found, [{ run: "a run", reason: "Not built", checks: listed }]);
  assert.deepEqual(stale, ["ping/answers", "gone/check"]);
});

test("entries of other runs do not count", () => {
  const { unexpected, stale } = compare("a run", found, [{ run: "other", reason: "", checks: ["tasks/starts"] }]);
  assert.equal(unexpected.length, 1);
  assert.deepEqual(stale, []);
});
