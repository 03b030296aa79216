import { openStorage } from "../../adapters/drivers/open.ts";
import { interleave, median, ratioOf, timed } from "../lib/measure.ts";
import { createSubject } from "./subject.ts";

/**
 * Measures one store: `node owners.js STORE-OF-ONE STORE-OF-ALL OWNERS`. Prints as JSON how `list_sessions` of a hundred of
 * many owners compares with the same call where there is one owner.
 */
const SESSIONS = 10;
const LISTED = 100;
const ROUNDS = 11;
const PARALLEL = 16;

const [one = "", all = "", count] = [process.argv[2], process.argv[3], Number(process.argv[4])];
const alone = await openStorage(one, process.env);
const crowd = await openStorage(all, process.env);
const single = createSubject(alone);
const many = createSubject(crowd);
const ownerAt = (index: number): string => `owner${index}`;

await single.fillOwner(ownerAt(0), SESSIONS);
for (let at = 0; at < count; at += PARALLEL) {
  const indexes = Array.from({ length: Math.min(PARALLEL, count - at) }, (_, offset) => at + offset);
  await Promise.all(indexes.map((index) => many.fillOwner(ownerAt(index), SESSIONS)));
}

/** Milliseconds of a call, over a hundred owners that lie far apart. */
async function listMany(round: number): Promise<number> {
  const step = Math.floor(count / LISTED);
  const taken: number[] = [];
  for (let index = 0; index < LISTED; index += 1) {
    const owner = ownerAt(index * step + (round % step));
    taken.push(await timed(() => many.service.list({ owner })));
  }
  return median(taken);
}

async function listOne(): Promise<number> {
  const taken: number[] = [];
  for (let call = 0; call < LISTED; call += 1) {
    taken.push(await timed(() => single.service.list({ owner: ownerAt(0) })));
  }
  return median(taken);
}

let round = 0;
const contestants = { one: listOne, many: () => listMany(round++) };
await interleave(1, contestants);
const rounds = await interleave(ROUNDS, contestants);
const told = { one: median(rounds.one), many: median(rounds.many), ratio: ratioOf(rounds.many, rounds.one) };
process.stdout.write(JSON.stringify(told));
await Promise.all([alone.close(), crowd.close()]);
process.exit(0);
