import { type Bench, type Row, ratioRow, us } from "../lib/bench.ts";
import { runProgram, storeKinds } from "../lib/stores.ts";

const OWNERS = { usual: 1_000, full: 10_000 };

type Told = { readonly one: number; readonly many: number; readonly ratio: number };

/** What other owners cost. */
export const owners: Bench = {
  name: "owners",
  about: "list_sessions of 100 of many owners with ten sessions each, against a store with one owner",
  async run(context) {
    const count = context.full ? OWNERS.full : OWNERS.usual;
    const rows: Row[] = [];
    for (const { name, fresh, node } of storeKinds(context)) {
      const args = [await fresh(), await fresh(), String(count)];
      const { one, many, ratio } = await runProgram<Told>(context, node, "owners", args);
      const what = `list_sessions among ${count.toLocaleString("en-US")} owners, ${name}`;
      rows.push(ratioRow({ what, floor: us(one), ours: us(many), ratio }, { most: 1.2 }));
    }
    return rows;
  },
};
