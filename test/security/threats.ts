import type { Threat } from "./threat.ts";
import { OWNERS, PAGES, STRANGERS } from "./threats-callers.ts";
import { CODE, DATA } from "./threats-code.ts";

/**
 * The threat model as data: SECURITY.md's table is made of it, and each row's guard is taken away once, in a copy of the
 * tree, to see that the row's test notices (mutants.ts).
 */
export const THREATS: readonly Threat[] = [...STRANGERS, ...PAGES, ...OWNERS, ...CODE, ...DATA];

/** The table of SECURITY.md. */
export function threatTable(): string {
  const rows = THREATS.map(({ who, attempt, guard, test, name }) => {
    return `| ${who} | ${attempt} | ${guard} | \`${test}\`: ${name.trim()} |`;
  });
  return ["| who | what they can try | what stops it | the test that proves it |", "|---|---|---|---|", ...rows].join(
    "\n",
  );
}
