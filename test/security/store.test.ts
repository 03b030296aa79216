import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createStorage, type Storage } from "unstorage";
import { makeApp, type TestApp } from "./app-setup.ts";
import { createFakeBackend } from "./fake-backend.ts";

const SECRET = "sesame-of-alice";

/** What someone could put in the place of any stored value. */
const HOSTILE: Readonly<Record<string, (stored: string) => string>> = {
  nothing: () => "",
  "half of it": (stored) => stored.slice(0, stored.length / 2),
  "another type": () => '"text"',
  null: () => "null",
  "an empty envelope": () => '{"v":1}',
  "another version": (stored) => stored.replace('"v":1', '"v":2'),
  "an envelope of null": () => '{"v":1,"value":null}',
  "an envelope of a list": () => '{"v":1,"value":[[[[]]]]}',
  "a prototype": () => '{"v":1,"value":{"__proto__":{"owner":"x"},"constructor":{"prototype":{"x":1}}}}',
  "fields of other types": (stored) => stored.replaceAll(/:"[^"]*"/g, ":7").replaceAll(/:\d+/g, ':"x"'),
  "negative numbers": (stored) => stored.replaceAll(/:(\d+)/g, ":-$1"),
  "huge numbers": (stored) => stored.replaceAll(/:(\d+)/g, ":1e308"),
  "endless ranges": (stored) =>
    stored.replace(/"live":\[.*?\]\]/, '"live":[[0,9999999]]').replace(/"nextSequence":\d+/, '"nextSequence":9999999'),
  "overlapping ranges": (stored) => stored.replace(/"live":\[.*?\]\]/, '"live":[[0,2],[1,3]]'),
  "parts that are not there": () => '{"v":1,"parts":{"id":"x","generation":0,"count":65536}}',
  "a path as its id": (stored) => stored.replaceAll(/"id":"[^"]*"/g, '"id":"../../../etc/passwd"'),
  "ids of paths": () => '{"v":1,"value":{"ids":["../x","a:b","",".","alice","a\\u0000b"]}}',
  "an unknown kind of output": (stored) => stored.replaceAll('"type":"execute_result"', '"type":"exec"'),
  "a script as output": (stored) =>
    stored.replaceAll('"text/plain":"', '"text/html":"<script>fetch(1)</script>","text/plain":"'),
};

async function populate(subject: TestApp): Promise<void> {
  for (const [name, text] of [
    ["alice", SECRET],
    ["bob", "of bob"],
  ] as const) {
    const client = subject.client(name);
    await client.tool("create_session", { session_id: "a" });
    await client.run("a", text);
    await client.run("a", "2");
    await client.tool("install_package", { package_name: "numpy" });
  }
}

/** All that bob can do with what he has. Returns what he was told. */
async function useAll(subject: TestApp): Promise<string[]> {
  const bob = subject.client("bob");
  const told: string[] = [];
  const calls: [string, Record<string, unknown>][] = [
    ["list_sessions", {}],
    ["get_history", { session_id: "a" }],
    ["get_history", { session_id: "a", start: -1 }],
    ["export_history", { session_id: "a", format: "html" }],
    ["save_script", { session_id: "a" }],
    ["run_code", { session_id: "a", start: 0, end: 1 }],
    ["run_code", { session_id: "a", code: "3" }],
    ["rerun_code", { session_id: "a", start: 0, end: 1 }],
    ["delete_history", { session_id: "a", start: 0 }],
    ["create_session", { session_id: "b" }],
    ["run_code", { session_id: "b", code: "4" }],
    ["delete_session", { session_id: "a" }],
    ["create_session", { session_id: "a" }],
    ["run_code", { session_id: "a", code: "5" }],
  ];
  for (const [name, args] of calls) {
    const { status, content, text } = await bob.tool(name, args);
    assert.equal(status, 200, text);
    assert.notEqual(content.code, "INTERNAL", `${name}: ${text}`);
    told.push(text);
  }
  for (const path of ["history.txt", "history.ipynb", "script.py", "blocks/0/output"]) {
    const { status, body } = await bob.ask("resources/read", { uri: `repl://sessions/a/${path}` });
    assert.equal(status, 200);
    told.push(body);
  }
  return told;
}

async function copyOf(storage: Storage): Promise<Storage> {
  const copy = createStorage();
  for (const key of await storage.getKeys()) await copy.setItemRaw(key, await storage.getItemRaw(key));
  return copy;
}

describe("a store that was edited by hand", () => {
  for (const [name, change] of Object.entries(HOSTILE)) {
    test(`${name}: no crash, nothing of another owner`, { timeout: 30_000 }, async () => {
      const original = await makeApp({ tokens: ["alice", "bob"] });
      await populate(original);
      const keys = await ownKeys(original);
      assert.ok(keys.length >= 4, keys.join());
      for (const key of keys) {
        const storage = await copyOf(original.storage);
        const stored = JSON.stringify(await storage.getItem(key));
        await storage.setItemRaw(key, change(stored));
        const subject = await makeApp({ tokens: ["alice", "bob"], storage, settings: { REPL_RATE_PER_MINUTE: "0" } });
        const told = await useAll(subject);
        assert.ok(!told.join("\n").includes(SECRET), key);
        assert.match((await subject.client("alice").tool("get_history", { session_id: "a" })).text, new RegExp(SECRET));
        await subject.close();
      }
      await original.close();
    });
  }
});

/** Keys of what belongs to bob. */
async function ownKeys({ storage, events }: TestApp): Promise<string[]> {
  const owner = events("call").find(({ by }) => by === "bob")?.owner;
  return (await storage.getKeys()).filter((key) => key.includes(String(owner)));
}

test("a requirement edited by hand reaches no installer as an option", async () => {
  const backend = createFakeBackend({ leaseMs: 600_000 });
  const subject = await makeApp({ tokens: ["bob"], backend });
  const bob = subject.client("bob");
  await bob.tool("create_session", { session_id: "a" });
  const owner = subject.events("call")[0]?.owner;
  const requirements = [
    "numpy",
    "--index-url=https://evil.example",
    "-r /etc/passwd",
    "x; y",
    "a b",
    "x @ https://host.example/x.whl",
  ];
  await subject.storage.setItem(`o:${owner}:packages`, { v: 1, value: { requirements } });
  await bob.run("a", "1");
  const [kernel] = backend.live;
  assert.deepEqual(kernel?.options.packages, ["numpy", "x @ https://host.example/x.whl"]);
  await subject.close();
});
