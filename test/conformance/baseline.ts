import type { ScenarioResult } from "./official.ts";

/** What is known not to pass, and why. */
export type BaselineEntry = {
  /** Name of the run. */
  readonly run: string;
  readonly reason: string;
  /** `scenario/check`. */
  readonly checks: readonly string[];
};

export type Verdict = {
  readonly passed: number;
  readonly expected: number;
  /** Failed without being listed. */
  readonly unexpected: readonly string[];
  /** Listed, but passed or not made at all: the list must shrink. */
  readonly stale: readonly string[];
};

/** Holds what a run found against the entries of its name. */
export function compare(name: string, results: readonly ScenarioResult[], baseline: readonly BaselineEntry[]): Verdict {
  const listed = new Set(baseline.filter(({ run }) => run === name).flatMap(({ checks }) => checks));
  const all = results.flatMap(({ scenario, checks }) =>
    [...checks].map(([id, outcome]) => ({ key: `${scenario}/${id}`, ...outcome })),
  );
  const failed = all.filter(({ passed }) => !passed);
  const failedKeys = new Set(failed.map(({ key }) => key));
  return {
    passed: all.length - failed.length,
    expected: failed.filter(({ key }) => listed.has(key)).length,
    unexpected: failed.filter(({ key }) => !listed.has(key)).map(({ key, message }) => `${key}: ${message}`),
    stale: [...listed].filter((key) => !failedKeys.has(key)),
  };
}
