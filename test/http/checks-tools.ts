import assert from "node:assert/strict";
import { assertText, blocksOf, type Check, listed } from "./check.ts";
import type { JsonSchema } from "./client.ts";

const TOOLS = [
  "create_session",
  "delete_history",
  "delete_session",
  "export_history",
  "get_history",
  "install_package",
  "list_sessions",
  "rerun_code",
  "reset_run_context",
  "reset_session",
  "run_code",
  "run_file",
  "save_script",
];

/** What the server says about itself, and each tool doing what it is for. */
export const toolChecks: readonly Check[] = [
  {
    id: "all tools are described for a model: title, text, arguments, hints, reply",
    async run({ client }) {
      const tools = await client.tools();
      const names = tools.map(({ name }) => name);
      assert.deepEqual(
        TOOLS.filter((name) => !names.includes(name)),
        [],
        "No tool of the contract is missing",
      );
      for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
        assert.ok(title && description, `${name} has a title and a description`);
        for (const [argument, schema] of Object.entries(inputSchema.properties ?? {})) {
          assert.ok(schema.description, `${name} describes ${argument}`);
        }
        assert.equal(outputSchema?.type, "object", `${name} publishes what it replies`);
        assert.equal(typeof annotations?.readOnlyHint, "boolean", `${name} says whether it only reads`);
      }
    },
  },
  {
    id: "the protocol revision is the one the client can speak",
    async run({ client, leg }) {
      // HTTP+SSE is a transport of the 2025 revisions; its clients negotiate the newest of those.
      assert.equal(client.revision, leg.era === "2026" ? "2026-07-28" : "2025-11-25");
    },
  },
  {
    id: "structured replies hold only what the published schema describes",
    async run({ client, session }) {
      const schemas = new Map((await client.tools()).map(({ name, outputSchema }) => [name, outputSchema]));
      const { id, call } = await session();
      const replies = {
        run_code: await call("run_code", { code: "print('a')\n1" }),
        get_history: await call("get_history"),
        rerun_code: await call("rerun_code"),
        save_script: await call("save_script"),
        export_history: await call("export_history", { format: "md" }),
        delete_history: await call("delete_history", { start: 0 }),
        reset_run_context: await call("reset_run_context"),
        reset_session: await call("reset_session"),
        list_sessions: await client.call("list_sessions"),
        delete_session: await client.call("delete_session", { session_id: id }),
      };
      for (const [tool, { structured }] of Object.entries(replies)) {
        const known = (schemas.get(tool) as JsonSchema).properties ?? {};
        assert.deepEqual(
          Object.keys(structured).filter((key) => !(key in known)),
          [],
          `${tool} describes its reply`,
        );
        assert.equal(structured.status, "ok", `${tool}: ${JSON.stringify(structured)}`);
      }
    },
  },
  {
    id: "create_session makes up an id when none is given",
    async run({ client }) {
      const { structured } = await client.call("create_session");
      assert.match(String(structured.session_id), /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
      assert.ok(Math.abs(Number(structured.created_at) - Date.now() / 1000) < 60, "created_at is Unix seconds");
      await client.call("delete_session", { session_id: structured.session_id });
    },
  },
  {
    id: "list_sessions says what is there and what it does",
    async run({ client, session }) {
      const { id, run } = await session();
      await run("1");
      const facts = await listed(client, id);
      assert.deepEqual(
        { history_count: facts?.history_count, alive: facts?.alive, busy: facts?.busy },
        { history_count: 1, alive: true, busy: false },
      );
    },
  },
  {
    id: "variables stay from call to call",
    async run({ session }) {
      const { run } = await session();
      await run("x = 20\ndef double(n):\n    return 2 * n");
      assertText(await run("double(x) + 2"), "[2] double(x) + 2\n42");
    },
  },
  {
    id: "printed text, errors and the value of one call come in the order they were made",
    async run({ session }) {
      const { run } = await session();
      const reply = await run(
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('no newline', end='')\n'value'",
      );
      assert.match(reply.text, /\nout\nerr\nno newline\n'value'$/);
      const { stdout, stderr, result } = reply.structured;
      assert.deepEqual({ stdout, stderr, result }, { stdout: "out\nno newline", stderr: "err\n", result: "'value'" });
    },
  },
  {
    id: "an exception is a reply with its traceback, and the session goes on",
    async run({ session }) {
      const { run } = await session();
      const { isError, structured, text } = await run("def f():\n    return 1 / 0\nf()");
      assert.equal(isError, true);
      assert.equal(structured.status, "error");
      assert.match(text, /File "<stdin>", line 3, in <module>\n {4}f\(\)/);
      const error = structured.error as { name: string; message: string; traceback: string };
      assert.deepEqual([error.name, error.message], ["ZeroDivisionError", "division by zero"]);
      assert.equal(structured.state, "kept");
      assertText(await run("'on'"), "[2] 'on'\n'on'");
    },
  },
  {
    id: "run_code selects lines of the code by start and end",
    async run({ session }) {
      const { run } = await session();
      const code = "print('a')\nprint('b')\nprint('c')";
      assert.equal((await run(code, { start: 1 })).structured.stdout, "b\nc\n");
      assert.equal((await run(code, { start: -1 })).structured.stdout, "c\n");
      assert.equal((await run(code, { end: 1 })).structured.stdout, "a\n");
    },
  },
  {
    id: "run_code without code runs blocks of history again as one new block",
    async run({ session }) {
      const { run, call } = await session();
      await run("n = 1");
      await run("n += 1");
      const again = await call("run_code", { start: 0, end: 2 });
      assert.equal(again.structured.index, 2);
      assert.equal(again.text, "[3] n = 1\n    n += 1");
      assertText(await run("n"), "[4] n\n2");
    },
  },
  {
    id: "empty code is code",
    async run({ session }) {
      const { run } = await session();
      assertText(await run(""), "[1]");
    },
  },
  {
    id: "echo false leaves the code out of the text",
    async run({ session }) {
      const { run } = await session();
      const reply = await run("token = 'abc'\nlen(token)", { echo: false });
      assert.doesNotMatch(reply.text, /token/);
      assert.match(reply.text, /3$/);
    },
  },
  {
    id: "numbers and flags given as text are taken as meant",
    async run({ session }) {
      const { run } = await session();
      const reply = await run("1 + 1", { timeout: "20", echo: "false" });
      assert.equal(reply.structured.result, "2");
    },
  },
  {
    id: "reset_session gives a fresh interpreter and an empty history",
    async run({ session }) {
      const { run, call } = await session();
      await run("x = 1");
      assert.equal((await call("reset_session")).isError, false);
      assert.deepEqual(await blocksOf({ id: "", run, call }), []);
      const gone = await run("x");
      assert.match(gone.text, /^\[1\] x\n[\s\S]*NameError/);
    },
  },
  {
    id: "rerun_code brings back variables, keeps places, and says what came out differently",
    async run({ session }) {
      const { id, run, call } = await session();
      await run("import itertools, os\npid = os.getpid()");
      await run("pid");
      await run("answer = 42\nanswer");
      const { structured, text } = await call("rerun_code");
      const blocks = structured.blocks as { index: number; status: string; same_output: boolean }[];
      assert.deepEqual(
        blocks.map(({ index, status, same_output }) => ({ index, status, same_output })),
        [
          { index: 0, status: "ok", same_output: true },
          { index: 1, status: "ok", same_output: false },
          { index: 2, status: "ok", same_output: true },
        ],
        text,
      );
      assertText(await run("answer"), "[4] answer\n42");
      assert.equal((await blocksOf({ id, run, call })).length, 4);
    },
  },
  {
    id: "rerun_code keeps the blocks outside its range and marks them as not in memory",
    async run({ session }) {
      const { id, run, call } = await session();
      await run("a = 1");
      await run("b = 2");
      await run("c = 3");
      await call("rerun_code", { start: 1, end: 2 });
      const blocks = await blocksOf({ id, run, call });
      assert.deepEqual(
        blocks.map(({ in_memory }) => in_memory),
        [false, true, false],
      );
      const reply = await run("[name for name in ('a', 'b', 'c') if name in globals()]");
      assert.equal(reply.structured.result, "['b']");
    },
  },
  {
    id: "rerun_code stops at the first failure when told to",
    async run({ session }) {
      const { run, call } = await session();
      await run("1");
      await run("raise ValueError");
      await run("3");
      const { structured } = await call("rerun_code", { stop_on_error: true });
      assert.equal((structured.blocks as unknown[]).length, 2);
      assert.equal(structured.not_run, 1);
    },
  },
  {
    id: "delete_history removes blocks, renumbers the rest and says how many remain",
    async run({ session }) {
      const { run, call } = await session();
      for (const code of ["'a'", "'b'", "'c'", "'d'"]) await run(code);
      assert.equal((await call("delete_history", { start: 1 })).structured.remaining, 3);
      assert.equal((await call("delete_history", { start: -1 })).structured.remaining, 2);
      assertText(await call("get_history"), "[1] 'a'\n'a'\n\n[2] 'c'\n'c'");
    },
  },
  {
    id: "get_history takes a slice as Python does",
    async run({ session }) {
      const { run, call } = await session();
      for (const code of ["1", "2", "3"]) await run(code);
      assertText(await call("get_history", { start: 1, end: 2 }), "[2] 2\n2");
      assertText(await call("get_history", { start: -2, end: 100 }), "[2] 2\n2\n\n[3] 3\n3");
      assertText(await call("get_history", { start: 3 }), "");
    },
  },
  {
    id: "save_script leaves out blocks that failed and counts them",
    async run({ session }) {
      const { run, call } = await session();
      await run("x = 1");
      await run("1 / 0");
      const { structured } = await call("save_script");
      assert.deepEqual([structured.blocks_saved, structured.blocks_left_out], [1, 1]);
      assert.equal((await call("save_script", { include_failed: true })).structured.blocks_saved, 2);
    },
  },
  {
    id: "a picture comes as a picture",
    async run({ session }) {
      const { run } = await session();
      const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
      const reply = await run(
        `import base64\nclass Dot:\n    def _repr_png_(self):\n        return base64.b64decode('${png}')\nDot()`,
      );
      const images = reply.content.filter(({ type }) => type === "image");
      assert.deepEqual(
        images.map(({ mimeType, data }) => ({ mimeType, data })),
        [{ mimeType: "image/png", data: png }],
      );
      assert.equal(reply.structured.images, 1);
    },
  },
  {
    id: "any Unicode survives the way there and back",
    async run({ session }) {
      const { run } = await session();
      const text = "ä 漢字 🐍 \u2028 \u0000 \u001b[31m";
      const reply = await run(`text = ${JSON.stringify(text).replace("\\u0000", "\\x00")}\nprint(text, end='')`);
      assert.equal(reply.structured.stdout, text);
    },
  },
];
