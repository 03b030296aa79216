import { amountRow, type Bench, type BenchContext, type Row } from "../lib/bench.ts";
import { runProgram } from "../lib/stores.ts";
import { costOfThousand } from "../scale/cost.ts";
import type { Outcome, Scenario } from "../scale/simulate.ts";

const SESSIONS = { usual: 1_000, full: 10_000 };
const UNLIMITED = { maxRunning: 1e9, createsPerSecond: 1e9 };
const DAY = { idleSeconds: 600, hours: 24, ...UNLIMITED };
/** More owners than a plan of 100 sandboxes has room for. */
const CROWDED: Scenario = { owners: 500, idleSeconds: 600, hours: 1, maxRunning: 100, createsPerSecond: 5 };

/** What a day of many owners asks of Cloudflare and E2B, by the real code and a clock that jumps. */
export const scale: Bench = {
  name: "scale",
  about: "a simulated day of many sessions on Workers and E2B: requests, storage operations, object time, cost, limits",
  async run(context) {
    const sessions = context.full ? SESSIONS.full : SESSIONS.usual;
    const halves = await Promise.all([0, 1].map((part) => play(context, { ...DAY, owners: sessions / 2 + part })));
    const day = sum(halves as [Outcome, Outcome]);
    const crowded = await play(context, CROWDED);
    return [...dayRows(sessions, day), ...crowdedRows(crowded)];
  },
};

function play(context: BenchContext, scenario: Scenario): Promise<Outcome> {
  return runProgram<Outcome>(context, process.execPath, "scale", [JSON.stringify(scenario)]);
}

function dayRows(sessions: number, day: Outcome): Row[] {
  const { calls, cloud, objects } = day;
  const runs = cloud.executes - cloud.creates;
  const requests = (runs + cloud.connects) / runs;
  const { cloudflare, e2b, storageMonth } = costOfThousand(day);
  const per = (value: number): string => (value / calls).toFixed(2);
  const dollars = (value: number): string => `$${value.toPrecision(2)}`;
  const what = `a day of ${sessions.toLocaleString("en-US")} sessions`;
  return [
    amountRow(
      { what: `${what}: E2B requests of a run`, floor: "1", ours: requests.toFixed(2) },
      requests,
      1.2,
      "requests",
    ),
    {
      what: `${what}: rows read, written of a call`,
      floor: "",
      ours: `${per(objects.rowsRead)}, ${per(objects.rowsWritten)}`,
      budget: "",
    },
    { what: `${what}: object time of a call`, floor: "", ours: `${per(objects.seconds)} s`, budget: "" },
    {
      what: `${what}: cost of 1,000 calls`,
      floor: "",
      ours: `${dollars(cloudflare)} Cloudflare, ${dollars(e2b)} E2B, ${dollars(storageMonth)} a month for storage`,
      budget: "",
    },
    { what: `${what}: most sandboxes at once`, floor: "", ours: String(cloud.mostRunning), budget: "" },
  ];
}

function crowdedRows({ calls, refused, gaveUp, cloud }: Outcome): Row[] {
  const what = `${CROWDED.owners} sessions in an hour on a plan of ${CROWDED.maxRunning} sandboxes`;
  return [
    {
      what: `${what}: served in the end`,
      floor: `${CROWDED.owners}`,
      ours: `${CROWDED.owners - gaveUp} (${refused} of ${calls} calls refused with one sentence)`,
      budget: "all",
      met: gaveUp === 0,
    },
    amountRow(
      { what: `${what}: most at once`, floor: "", ours: String(cloud.mostRunning) },
      cloud.mostRunning,
      100,
      "sandboxes",
    ),
  ];
}

function sum([one, other]: readonly [Outcome, Outcome]): Outcome {
  const added = <T extends Readonly<Record<string, number>>>(a: T, b: T): T =>
    Object.fromEntries(Object.entries(a).map(([name, value]) => [name, value + (b[name] ?? 0)])) as T;
  const { cloud, objects, ...totals } = one;
  const { cloud: otherCloud, objects: otherObjects, ...otherTotals } = other;
  return { ...added(totals, otherTotals), cloud: added(cloud, otherCloud), objects: added(objects, otherObjects) };
}
