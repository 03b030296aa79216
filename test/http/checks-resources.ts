import assert from "node:assert/strict";
import type { Check } from "./check.ts";

const FORMATS = {
  txt: "text/plain",
  md: "text/markdown",
  ipynb: "application/x-ipynb+json",
  html: "text/html",
  json: "application/json",
};

/** History, scripts and whole outputs, read by URI. */
export const resourceChecks: readonly Check[] = [
  {
    id: "sessions and their documents are listed as resources",
    async run({ client, session }) {
      const { id } = await session();
      const uris = (await client.resources()).map(({ uri }) => uri);
      assert.ok(uris.includes("repl://sessions"), "The list of sessions is a resource");
      assert.ok(uris.includes(`repl://sessions/${id}/history.txt`), "A history is a resource");
      const templates = await client.resourceTemplates();
      for (const format of Object.keys(FORMATS)) {
        assert.ok(templates.includes(`repl://sessions/{id}/history.${format}{?start,end}`), `${format} has a template`);
      }
      assert.ok(templates.includes("repl://sessions/{id}/script.py"));
      assert.ok(templates.includes("repl://sessions/{id}/blocks/{index}/output"));
    },
  },
  {
    id: "the list of sessions reads as JSON",
    async run({ client, session }) {
      const { id } = await session();
      const { text, mimeType } = await client.read("repl://sessions");
      assert.equal(mimeType, "application/json");
      const { sessions } = JSON.parse(text ?? "") as { sessions: { session_id: string }[] };
      assert.ok(sessions.some(({ session_id }) => session_id === id));
    },
  },
  {
    id: "history reads in every format, whole or in part",
    async run({ client, session }) {
      const { id, run } = await session();
      await run("'first'");
      await run("'second'");
      for (const [format, type] of Object.entries(FORMATS)) {
        const { text, mimeType } = await client.read(`repl://sessions/${id}/history.${format}`);
        assert.equal(mimeType, type);
        assert.match(text ?? "", /first[\s\S]*second/, format);
      }
      const { text } = await client.read(`repl://sessions/${id}/history.txt?start=1`);
      assert.equal(text?.trim(), "[2] 'second'\n'second'");
    },
  },
  {
    id: "the script and the output of one block read as plain text",
    async run({ client, session }) {
      const { id, run } = await session();
      await run("print('shown')\n7");
      assert.match((await client.read(`repl://sessions/${id}/script.py`)).text ?? "", /print\('shown'\)\n7/);
      assert.equal((await client.read(`repl://sessions/${id}/blocks/0/output`)).text, "shown\n7\n");
    },
  },
  {
    id: "a cut reply links to the whole output",
    async run({ client, session }) {
      const { run } = await session();
      const reply = await run("print('x' * 100_000)");
      const cut = Number(reply.structured.truncated_chars);
      assert.ok(cut > 0 && reply.text.length < 70_000, `${cut} characters were cut`);
      const link = reply.content.find(({ type }) => type === "resource_link");
      const { text } = await client.read(link?.uri ?? "");
      assert.equal(text, `${"x".repeat(100_000)}\n`);
    },
  },
  {
    id: "an export comes with a link that a remote client can read",
    async run({ client, session }) {
      const { run, call } = await session();
      await run("1");
      const reply = await call("export_history", { format: "md" });
      const link = reply.content.find(({ type }) => type === "resource_link");
      assert.match((await client.read(link?.uri ?? "")).text ?? "", /1/);
    },
  },
  {
    id: "a URI that names nothing is an error",
    async run({ client, freshId }) {
      for (const uri of [
        "repl://nothing",
        `repl://sessions/${freshId()}/history.txt`,
        "repl://sessions/a%2Fb/script.py",
      ]) {
        await assert.rejects(client.read(uri), uri);
      }
    },
  },
];
