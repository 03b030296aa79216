import { basicChecks } from "./store-basics.ts";
import { faultChecks } from "./store-faults.ts";
import { sharingChecks } from "./store-sharing.ts";
import type { StoreCheck } from "./store-subject.ts";
import { valueChecks } from "./store-values.ts";

/** The contract of every store, as data. */
export const storeChecks: readonly StoreCheck[] = [...basicChecks, ...valueChecks, ...sharingChecks, ...faultChecks];
