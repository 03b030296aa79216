import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { dataFolder, openStorage } from "../../adapters/drivers/open.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { append, codeOf, newOwner, newRecord } from "../contract/store-subject.ts";

const folder = mkdtempSync(join(tmpdir(), "open-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("without a setting history is in the user's data folder", async () => {
  const env = { HOME: "/home/ada" };
  assert.equal(dataFolder(env, "linux"), "/home/ada/.local/share/edge-python-repl");
  assert.equal(dataFolder({ ...env, XDG_DATA_HOME: "/data" }, "linux"), "/data/edge-python-repl");
  assert.equal(dataFolder({ ...env, XDG_DATA_HOME: "relative" }, "linux"), "/home/ada/.local/share/edge-python-repl");
  assert.equal(dataFolder({ ...env, XDG_DATA_HOME: "" }, "linux"), "/home/ada/.local/share/edge-python-repl");
  assert.equal(dataFolder(env, "darwin"), "/home/ada/Library/Application Support/edge-python-repl");
  assert.equal(dataFolder({}, "linux"), join(homedir(), ".local/share/edge-python-repl"));
  for (const setting of [undefined, ""]) {
    const opened = await openStorage(setting, { XDG_DATA_HOME: join(folder, "xdg") });
    assert.equal(opened.description, join(folder, "xdg", "edge-python-repl"));
    assert.ok(existsSync(opened.description));
    await opened.close();
  }
});

test("a path may begin at the home folder or at the current one", async () => {
  const fromHome = await openStorage("fs:~/h istory", { HOME: folder });
  assert.equal(fromHome.description, join(folder, "h istory"));
  const odd = await openStorage(`fs:${folder}/a:b?c`, {});
  assert.equal(odd.description, join(folder, "a:b?c"));
  for (const opened of [fromHome, odd]) await opened.close();
});

test("memory is this process's alone, files are shared", async () => {
  const memory = await openStorage("memory", {});
  assert.deepEqual([memory.exclusive, memory.maxValueBytes], [true, undefined]);
  const files = await openStorage(`fs:${folder}/shared`, {});
  assert.deepEqual([files.exclusive, files.maxValueBytes], [false, undefined]);
  for (const opened of [memory, files]) await opened.close();
});

test("a setting that makes no sense is refused in one sentence that holds no password", async () => {
  writeFileSync(join(folder, "file"), "");
  const settings: Readonly<Record<string, RegExp>> = {
    file: /^This store is not known; use memory, fs:PATH/,
    Memory: /not known/,
    "mysql://user:secret@host/db": /^The store "mysql" is not known; use memory/,
    "user:secret@host": /not known/,
    "fs:": /^The store fs: needs a path, such as fs:~/,
    "sqlite:": /^The store sqlite: needs a path/,
    "fs:/tmp/\0": /NUL/,
    [`fs:${folder}/file`]: /^Cannot keep history in the folder .*file: /,
    [`fs:${folder}/file/below`]: /^Cannot keep history in the folder/,
    "redis:": /^The Redis address is not a URL/,
    "redis://:secret@": /^The Redis address is not a URL/,
    "redis://:secret@127.0.0.1:1": /^Cannot reach Redis at redis:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
  };
  for (const [setting, expected] of Object.entries(settings)) {
    await assert.rejects(openStorage(setting, {}), (error: unknown) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, expected);
      assert.ok(!/secret|\n/.test(error.message), error.message);
      return true;
    });
  }
});

test("a folder that becomes unusable is told with every call, and serves again once it is well", async () => {
  const root = join(folder, "ill");
  const { close, ...options } = await openStorage(`fs:${root}`, {});
  const store = createHistoryStore(options);
  const owner = newOwner();
  await store.createSession(owner, newRecord("demo"), 10);
  rmSync(root, { recursive: true });
  writeFileSync(root, "");
  assert.equal(await codeOf(append(store, owner, "demo")), "STORAGE_UNAVAILABLE");
  assert.equal(await codeOf(store.createSession(owner, newRecord("other"), 10)), "STORAGE_UNAVAILABLE");
  rmSync(root);
  mkdirSync(root);
  await store.createSession(owner, newRecord("demo"), 10);
  assert.equal(await append(store, owner, "demo"), 0);
  await close();
});
