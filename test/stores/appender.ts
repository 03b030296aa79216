// A server of its own, as far as the store is concerned: appends blocks to a session, and says which were acknowledged.
// Arguments: the store's setting, owner, session id, name of this appender, how many blocks.
import { writeSync } from "node:fs";
import process from "node:process";
import { openStorage } from "../../adapters/drivers/open.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { append } from "../contract/store-subject.ts";

const [setting, owner = "", id = "", name = "", count = "0"] = process.argv.slice(2);
const { close, ...options } = await openStorage(setting, process.env);
const store = createHistoryStore(options);
for (let step = 0; step < Number(count); step += 1) {
  const code = `${name}.${step}`;
  const sequence = await append(store, owner, id, code);
  // At once and in one call: what is printed was acknowledged, whenever this process is killed.
  writeSync(1, `${sequence} ${code}\n`);
}
await close();
