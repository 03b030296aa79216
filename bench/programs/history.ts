import { openStorage } from "../../adapters/drivers/open.ts";
import { interleave, median, ratioOf, times } from "../lib/measure.ts";
import { createSubject } from "./subject.ts";

/**
 * Measures one store: `node history.js STORE LENGTH`. Writes a history of LENGTH blocks beside one of a hundred, and prints
 * as JSON how reading ten blocks and appending one compare.
 */
const SMALL = 100;
const ROUNDS = 15;
const CALLS = 40;

const [storage, length] = [process.argv[2], Number(process.argv[3])];
const opened = await openStorage(storage, process.env);
const { fill, history, append } = createSubject(opened);
await fill("small", 0, SMALL);
await fill("large", 0, length);

const contestants = {
  readSmall: async () => median(await times(CALLS, () => history("small", SMALL))),
  readLarge: async () => median(await times(CALLS, () => history("large", length))),
  appendSmall: async () => median(await times(CALLS, () => append("small"))),
  appendLarge: async () => median(await times(CALLS, () => append("large"))),
};
await interleave(1, contestants);
const rounds = await interleave(ROUNDS, contestants);
const compared = (small: readonly number[], large: readonly number[]) => ({
  small: median(small),
  large: median(large),
  ratio: ratioOf(large, small),
});
const told = {
  read: compared(rounds.readSmall, rounds.readLarge),
  append: compared(rounds.appendSmall, rounds.appendLarge),
};
process.stdout.write(JSON.stringify(told));
await opened.close();
process.exit(0);
