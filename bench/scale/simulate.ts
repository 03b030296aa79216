import { AppError } from "../../src/core/errors.ts";
import type { SessionService } from "../../src/sessions/service.ts";
import { createClock, createRandom } from "./clock.ts";
import { type Counts, createCloud } from "./cloud.ts";
import { type ObjectCounts, Objects } from "./object.ts";

/** A day of owners who each work through one session, come back or not, and of what that costs. */
export type Scenario = {
  readonly owners: number;
  readonly idleSeconds: number;
  readonly maxRunning: number;
  readonly createsPerSecond: number;
  /** Hours over which the owners begin. */
  readonly hours: number;
};

export type Outcome = {
  readonly calls: number;
  /** Calls that were refused because a limit of E2B was reached; each was made again a minute later. */
  readonly refused: number;
  /** Owners who gave up after several refusals. */
  readonly gaveUp: number;
  /** Runs that said that variables were lost, as they must when a sandbox had ended. */
  readonly toldLost: number;
  readonly cloud: Counts;
  readonly objects: ObjectCounts;
};

/** Runs in a first and in a later sitting. */
const RUNS = { first: 4, later: 1 };
const RETURNS = 0.5;
const THINK_MS = 25_000;
const HOUR_MS = 3_600_000;
const RETRY_MS = 60_000;
const MAX_RETRIES = 180;
const START = Date.UTC(2027, 0, 1);
const SESSION = "work";

type Step = {
  at: number;
  readonly owner: number;
  run: number;
  readonly runs: number;
  readonly isLater: boolean;
  tries: number;
};

/** @throws Error when the real code did something that it must not, such as losing a block. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const clock = createClock(START);
  const random = createRandom(scenario.owners);
  const cloud = createCloud({ ...scenario, clock, random });
  const objects = new Objects(clock, scenario.idleSeconds);
  const stored = new Map<number, number>();
  const totals = { calls: 0, refused: 0, gaveUp: 0, toldLost: 0 };
  const steps = new Steps();
  for (let owner = 0; owner < scenario.owners; owner += 1) {
    const at = START + random.next() * scenario.hours * HOUR_MS;
    steps.add({ at, owner, run: 0, runs: RUNS.first, isLater: false, tries: 0 });
  }
  const real = globalThis.fetch;
  globalThis.fetch = cloud.fetch;
  // By this E2B's SDK knows a Worker, where it uses `fetch`; it looks when it is loaded, which is at the first create.
  Object.defineProperty(globalThis, "navigator", { value: { userAgent: "Cloudflare-Workers" }, configurable: true });
  try {
    for (let step = steps.next(); step; step = steps.next()) {
      clock.set(step.at);
      const lost = await take(objects, step, totals);
      if (lost === undefined) {
        if (step.tries > MAX_RETRIES) totals.gaveUp += 1;
        else steps.add({ ...step, at: clock.now() + RETRY_MS, tries: step.tries + 1 });
        continue;
      }
      stored.set(step.owner, (stored.get(step.owner) ?? 0) + 1);
      if (lost) totals.toldLost += 1;
      if (step.isLater && step.run === 0 && !lost) throw new Error("A sandbox had ended, and the run did not say so");
      const at = clock.now() + random.waiting(THINK_MS);
      if (step.run + 1 < step.runs) steps.add({ ...step, at, run: step.run + 1, tries: 0 });
      else if (!step.isLater && random.next() < RETURNS) {
        const later = clock.now() + (1 + 5 * random.next()) * HOUR_MS;
        steps.add({ at: later, owner: step.owner, run: 0, runs: RUNS.later, isLater: true, tries: 0 });
      }
    }
    clock.pass(24 * HOUR_MS);
    cloud.running(); // Ends what is left, so that its time is counted.
    await check(objects, stored);
  } finally {
    globalThis.fetch = real;
  }
  return { ...totals, cloud: cloud.counts, objects: objects.counts };
}

/** Makes the calls of a step. @returns Whether variables were lost; undefined when E2B was at its limit. */
async function take(
  objects: Objects,
  step: Step,
  totals: { calls: number; refused: number },
): Promise<boolean | undefined> {
  const caller = { owner: `owner${step.owner}` };
  const ask = <T>(request: (service: SessionService) => Promise<T>): Promise<T> => {
    totals.calls += 1;
    return objects.ask(caller.owner, request);
  };
  if (!step.isLater && step.run === 0 && step.tries === 0) {
    await ask((service) => service.create(caller, { id: SESSION }));
  }
  const { signal } = new AbortController();
  const spec = { kind: "code", code: `total = ${step.run} + 1\ntotal` } as const;
  try {
    const { block } = await ask((service) => service.run(caller, SESSION, spec, { signal }));
    if (block.status !== "ok") throw new Error(`A run ended as ${block.status}: ${block.note}`);
    return block.note?.includes("lost") ?? false;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "LIMIT_REACHED") throw error;
    totals.refused += 1;
    return undefined;
  }
}

/** Every run that was acknowledged is in the history, and nothing else. */
async function check(objects: Objects, stored: ReadonlyMap<number, number>): Promise<void> {
  for (const [owner, count] of stored) {
    if (owner % 100 > 0) continue;
    const caller = { owner: `owner${owner}` };
    const { entries, total } = await objects.ask(caller.owner, (service) => service.history(caller, SESSION, {}));
    const ok = entries.filter(({ block }) => block.status === "ok").length;
    if (total !== count || ok !== count)
      throw new Error(`Owner ${owner} ran ${count} blocks, and ${ok} of ${total} are stored`);
  }
}

/** A heap of steps, the earliest first. */
class Steps {
  readonly #heap: Step[] = [];

  add(step: Step): void {
    const heap = this.#heap;
    let at = heap.push(step) - 1;
    for (let up = (at - 1) >> 1; at > 0 && (heap[up] as Step).at > step.at; up = (at - 1) >> 1) {
      heap[at] = heap[up] as Step;
      at = up;
    }
    heap[at] = step;
  }

  next(): Step | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (let down = 1; down < heap.length; down = 2 * at + 1) {
      if (down + 1 < heap.length && (heap[down + 1] as Step).at < (heap[down] as Step).at) down += 1;
      if ((heap[down] as Step).at >= last.at) break;
      heap[at] = heap[down] as Step;
      at = down;
    }
    heap[at] = last;
    return first;
  }
}
