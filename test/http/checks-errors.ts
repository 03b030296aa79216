import assert from "node:assert/strict";
import { assertRefused, assertText, blocksOf, type Check, listed, type TestSession } from "./check.ts";
import { PREPARE } from "./checks-usage.ts";

const SESSION_TOOLS: Readonly<Record<string, Record<string, unknown>>> = {
  run_code: { code: "1" },
  run_file: { path: "a.py" },
  rerun_code: {},
  get_history: {},
  delete_history: { start: 0 },
  export_history: {},
  save_script: {},
  reset_session: {},
  reset_run_context: {},
  delete_session: {},
};

const BAD_IDS = ["../x", "a:b", "", "x".repeat(10_000), "-first", "ü", "a b", "a\u0000b"];

/** The session still works and its history is as long as before. */
async function assertUntouched(session: TestSession, blocks: number): Promise<void> {
  assert.equal((await blocksOf(session)).length, blocks);
  assert.equal((await session.run("kept")).structured.result, "'kept'");
}

/** Bad input: each a clear error, and nothing changed. */
export const errorChecks: readonly Check[] = [
  {
    id: "an unknown session is refused by every tool that takes one",
    async run({ client, freshId }) {
      const session_id = freshId();
      for (const [tool, args] of Object.entries(SESSION_TOOLS)) {
        assertRefused(await client.call(tool, { session_id, ...args }), "SESSION_NOT_FOUND", session_id);
      }
      assert.equal(await listed(client, session_id), undefined);
    },
  },
  {
    id: "ids that are no ids are refused by every tool",
    async run({ client }) {
      for (const session_id of BAD_IDS) {
        assertRefused(await client.call("create_session", { session_id }), "INVALID_SESSION_ID");
        for (const [tool, args] of Object.entries(SESSION_TOOLS)) {
          assertRefused(await client.call(tool, { session_id, ...args }), "INVALID_SESSION_ID");
        }
        assert.equal(await listed(client, session_id), undefined);
      }
    },
  },
  {
    id: "ids as long and as odd as allowed work",
    async run({ client }) {
      for (const session_id of [`9${"x".repeat(63)}`, "A.b_c-d"]) {
        assert.equal((await client.call("create_session", { session_id })).isError, false, session_id);
        assert.equal((await client.call("delete_session", { session_id })).isError, false, session_id);
      }
    },
  },
  {
    id: "of two calls that create the same id at once, one succeeds",
    async run({ client, freshId }) {
      const session_id = freshId();
      const replies = await Promise.all([1, 2, 3].map(() => client.call("create_session", { session_id })));
      const refused = replies.filter(({ isError }) => isError);
      assert.equal(refused.length, 2);
      for (const reply of refused) assertRefused(reply, "SESSION_EXISTS", session_id);
      assertRefused(await client.call("create_session", { session_id }), "SESSION_EXISTS");
      await client.call("delete_session", { session_id });
    },
  },
  {
    id: "a folder that does not exist is refused when the session is created",
    async run({ client, freshId }) {
      const session_id = freshId();
      assertRefused(await client.call("create_session", { session_id, cwd: "/no/such/folder" }), "INVALID_CWD");
      assert.equal(await listed(client, session_id), undefined);
    },
  },
  {
    id: "timeouts that are none are refused before anything runs",
    async run({ session }) {
      const bad = await session();
      await bad.run("kept = 'kept'");
      for (const timeout of [0, -1, "NaN", "Infinity", 1e12, "soon", true]) {
        assertRefused(await bad.run("kept = 'changed'", { timeout }), "INVALID_ARGUMENT", "timeout");
      }
      await assertUntouched(bad, 1);
    },
  },
  {
    id: "arguments that are missing, unknown or of the wrong type are named",
    async run({ client, session }) {
      const bad = await session();
      await bad.run("kept = 'kept'");
      assertRefused(await client.call("run_code", { code: "1" }), "INVALID_ARGUMENT", "session_id");
      assertRefused(await bad.run("kept = 1", { code: 7 }), "INVALID_ARGUMENT", "code");
      assertRefused(await bad.run("kept = 1", { start: 1.5 }), "INVALID_ARGUMENT", "start");
      assertRefused(await bad.run("kept = 1", { time_out: 3 }), "INVALID_ARGUMENT", "time_out");
      assertRefused(await bad.call("delete_history", {}), "INVALID_ARGUMENT", "start");
      assertRefused(await bad.call("export_history", { format: "pdf" }), "INVALID_ARGUMENT", "format");
      await assertUntouched(bad, 1);
    },
  },
  {
    id: "slices that select nothing are refused where something is to be done with them",
    async run({ session }) {
      const bad = await session();
      await bad.run("kept = 'kept'");
      assertRefused(await bad.call("run_code", { start: 5, end: 9 }), "EMPTY_SLICE");
      assertRefused(await bad.call("run_code", { start: 1, end: 0 }), "EMPTY_SLICE");
      assertRefused(await bad.run("kept = 1\nkept = 2", { start: 7 }), "EMPTY_SLICE");
      assertRefused(await bad.call("rerun_code", { start: 1 }), "EMPTY_SLICE");
      assertRefused(await bad.call("export_history", { start: 4 }), "EMPTY_SLICE");
      assertRefused(await bad.call("save_script", { start: 4 }), "EMPTY_SLICE");
      assertRefused(await bad.call("delete_history", { start: 0, end: 0 }), "INDEX_OUT_OF_RANGE");
      assertRefused(await bad.call("delete_history", { start: 0, end: 2 }), "INDEX_OUT_OF_RANGE");
      assertRefused(await bad.call("delete_history", { start: 1 }), "INDEX_OUT_OF_RANGE");
      assertRefused(await bad.call("delete_history", { start: -2 }), "INDEX_OUT_OF_RANGE");
      assertRefused(await bad.call("run_code", {}), "NO_CODE");
      await assertUntouched(bad, 1);
    },
  },
  {
    id: "files that are not there, are folders or cannot be read are refused and leave no block",
    async run({ session }) {
      const bad = await session();
      await bad.run(`${PREPARE}\nkept = 'kept'\nos.mkdir('folder')`);
      assertRefused(await bad.call("run_file", { path: "missing.py" }), "FILE_NOT_FOUND", "missing.py");
      assertRefused(await bad.call("run_file", { path: "" }), "FILE_NOT_FOUND");
      assertRefused(await bad.call("run_file", { path: "folder" }), "FILE_UNREADABLE", "folder");
      assertRefused(await bad.call("run_file", { path: "a\u0000b" }), "FILE_NOT_FOUND");
      await assertUntouched(bad, 1);
    },
  },
  {
    id: "a binary file is an error that says what is wrong with it, an empty one runs",
    async run({ session }) {
      const { run, call } = await session();
      await run(`${PREPARE}\n_ = pathlib.Path('binary.py').write_bytes(bytes([0, 1, 2, 3, 255, 254]))`);
      const binary = await call("run_file", { path: "binary.py" });
      assert.equal(binary.isError, true);
      assert.match(binary.text, /utf-8|null byte|source code/i);
      await run("pathlib.Path('empty.py').touch()");
      assert.equal((await call("run_file", { path: "empty.py" })).isError, false);
    },
  },
  {
    id: "a place that cannot be written to is refused and the history stays",
    async run({ session }) {
      const bad = await session();
      await bad.run(`${PREPARE}\nkept = 'kept'\nos.mkdir('folder')`);
      assertRefused(await bad.call("export_history", { path: "folder" }), "FILE_NOT_WRITABLE");
      assertRefused(await bad.call("save_script", { path: "utils.py/below.py" }), "FILE_NOT_WRITABLE");
      await assertUntouched(bad, 1);
    },
  },
  {
    id: "code of 10 MB is refused as too large",
    async run({ session }) {
      const bad = await session();
      await bad.run("kept = 'kept'");
      assertRefused(await bad.run(`kept = 1 #${"x".repeat(10_000_000)}`), "TOO_LARGE");
      await assertUntouched(bad, 1);
    },
  },
  {
    id: "what is no requirement is refused before a process starts",
    async run({ client }) {
      for (const package_name of [
        "",
        "  ",
        "--upgrade pip",
        "-r file.txt",
        "git+https://example.com/x",
        "./x",
        "a;b",
        "x @ file:///x",
      ]) {
        assertRefused(await client.call("install_package", { package_name }), "INVALID_REQUIREMENT");
      }
    },
  },
  {
    id: "an unknown tool is an error of the protocol",
    async run({ client }) {
      await assert.rejects(client.call("no_such_tool", {}), /no_such_tool/);
    },
  },
  {
    id: "code that does not parse is a block with a SyntaxError",
    async run({ session }) {
      const { run } = await session();
      const reply = await run("x = = 1");
      assert.equal((reply.structured.error as { name: string }).name, "SyntaxError");
      assert.match(reply.text, /File "<stdin>", line 1\n {4}x = = 1/);
      assertText(await run("'on'"), "[2] 'on'\n'on'");
    },
  },
];
