// Prints, as JSON, what a server that is started now finds of a session; makes it first when told to.
// Arguments: the store's setting, owner, session id, `create`?
import process from "node:process";
import { openStorage } from "../../adapters/drivers/open.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { newRecord } from "../contract/store-subject.ts";

const [setting, owner = "", id = "", create] = process.argv.slice(2);
const { close, ...options } = await openStorage(setting, process.env);
const store = createHistoryStore(options);
if (create === "create") await store.createSession(owner, newRecord(id), 1);
const record = await store.readSession(owner, id);
const sequences = [...Array(record?.nextSequence ?? 0).keys()];
const blocks = await store.readBlocks(owner, id, sequences);
console.log(JSON.stringify({ record, blocks: sequences.map((sequence) => [sequence, blocks[sequence]?.code]) }));
await close();
