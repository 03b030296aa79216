import type { Outcome } from "./simulate.ts";

/** List prices in dollars of November 2026, without what plans include; docs/scale.md names the pages. */
const PRICES = {
  workerRequest: 0.3e-6,
  /** Of a millisecond of processor time. */
  workerCpu: 0.02e-6,
  objectRequest: 0.15e-6,
  /** Of a second with 128 MB. */
  objectSecond: 12.5e-6 * 0.128,
  rowRead: 0.001e-6,
  rowWritten: 1e-6,
  /** Of a gigabyte and month. */
  stored: 0.2,
  /** Of a second of the standard sandbox: 2 processors and half a gigabyte. */
  sandboxSecond: 2 * 0.000014 + 0.5 * 0.0000045,
};

/** Processor time of a call in Worker and object together; the bench `worker` measures it. */
const CALL_CPU_MS = 2;

export type Cost = { readonly cloudflare: number; readonly storageMonth: number; readonly e2b: number };

/** Dollars for a thousand calls. */
export function costOfThousand({ calls, objects, cloud }: Outcome): Cost {
  const compute = calls * (PRICES.workerRequest + CALL_CPU_MS * PRICES.workerCpu);
  const object = objects.requests * PRICES.objectRequest + objects.seconds * PRICES.objectSecond;
  const rows = objects.rowsRead * PRICES.rowRead + objects.rowsWritten * PRICES.rowWritten;
  const scale = 1000 / calls;
  return {
    cloudflare: (compute + object + rows) * scale,
    storageMonth: (objects.bytesStored / 1e9) * PRICES.stored * scale,
    e2b: cloud.sandboxSeconds * PRICES.sandboxSecond * scale,
  };
}
