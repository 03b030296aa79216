import { test } from "node:test";
import { storeChecks } from "./store-checks.ts";
import type { StoreSubject } from "./store-subject.ts";

/** Holds a store to the contract. `subject` is asked for when the checks run, so that a server can be started before. */
export function storeSuite(name: string, subject: () => StoreSubject, supports: StoreSubject["supports"]): void {
  for (const { id, needs, run } of storeChecks) {
    if (needs !== undefined && !supports[needs]) continue;
    test(`${name}: ${id}`, () => run(subject()));
  }
}
