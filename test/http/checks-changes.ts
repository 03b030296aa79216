import assert from "node:assert/strict";
import type { Check } from "./check.ts";
import { PREPARE } from "./checks-usage.ts";
import type { Content, ReplClient } from "./client.ts";

type FileFacts = { readonly path: string; readonly size: number; readonly uri: string };

const linksOf = (content: readonly Content[]): readonly Content[] =>
  content.filter(({ type }) => type === "resource_link");

async function bytesOf(client: ReplClient, uri: string): Promise<string> {
  const { blob, text } = await client.read(uri);
  return blob === undefined ? (text ?? "") : Buffer.from(blob, "base64").toString("latin1");
}

/** Files that a run made or changed, as its reply tells them. */
export const changeChecks: readonly Check[] = [
  {
    id: "a run says which files it made, in text, facts and links that can be read",
    async run({ client, session }) {
      const { id, run } = await session();
      await run(PREPARE);
      const reply = await run(
        "_ = pathlib.Path('a b.csv').write_text('x' * 1100), pathlib.Path('p.png').write_bytes(b'1')",
      );
      assert.equal(reply.text.split("\n").at(-1), "Files: a b.csv (1.1 kB), p.png (1 B)");
      assert.equal(reply.structured.stdout, "");
      const files = reply.structured.files as readonly FileFacts[];
      assert.deepEqual(
        files.map(({ path, size }) => [path, size]),
        [
          ["a b.csv", 1100],
          ["p.png", 1],
        ],
      );
      const links = linksOf(reply.content);
      assert.deepEqual(
        links.map(({ uri, name, mimeType }) => [uri, name, mimeType]),
        [
          [files[0]?.uri, "a b.csv", "text/csv"],
          [files[1]?.uri, "p.png", "image/png"],
        ],
      );
      // Later the current folder may be another one, and the links must lead to the same files.
      await run("os.chdir('/')");
      assert.equal(await bytesOf(client, links[0]?.uri ?? ""), "x".repeat(1100));
      assert.equal(await bytesOf(client, links[1]?.uri ?? ""), "1");
      assert.match(links[0]?.uri ?? "", new RegExp(`^repl://sessions/${id}/files//`));
    },
  },
  {
    id: "a run that writes nothing says nothing of files",
    async run({ session }) {
      const { run } = await session();
      await run(PREPARE);
      const reply = await run("pathlib.Path('utils.py').read_text()[:5]");
      assert.equal(reply.structured.files, undefined);
      assert.deepEqual(linksOf(reply.content), []);
      assert.doesNotMatch(reply.text, /Files:/);
    },
  },
  {
    id: "runs that fail or run out of time tell their files",
    async run({ session }) {
      const { run } = await session();
      await run(PREPARE);
      const failed = await run("pathlib.Path('f').touch()\n1 / 0");
      assert.match(failed.text, /ZeroDivisionError: division by zero\nFiles: f \(0 B\)$/);
      const late = await run("import time; pathlib.Path('t').touch(); time.sleep(60)", { timeout: 0.5 });
      assert.match(late.text, /variables are kept\)\nFiles: t \(0 B\)$/);
    },
  },
  {
    id: "history shows the files of a block, its output does not",
    async run({ client, session }) {
      const { id, run, call } = await session();
      await run(PREPARE);
      await run("print('done'); pathlib.Path('f').touch()");
      assert.match((await call("get_history", { start: -1 })).text, /\ndone\nFiles: f \(0 B\)$/);
      assert.equal((await client.read(`repl://sessions/${id}/blocks/1/output`)).text, "done\n");
    },
  },
  {
    id: "run_file and rerun_code tell files, and a rerun compares output alone",
    async run({ client, session }) {
      const { run, call } = await session();
      await run(
        "import os, pathlib, tempfile\nplace = tempfile.mkdtemp()\nos.chdir(place)\n_ = pathlib.Path('m.py').write_text('open(\"o\", \"w\").close()')",
      );
      const ran = await call("run_file", { path: "m.py" });
      assert.match(ran.text, /\nFiles: o \(0 B\)$/);
      const again = await call("rerun_code", { start: 0, end: 2 });
      const [, block] = again.structured.blocks as { files?: FileFacts[]; same_output: boolean }[];
      assert.deepEqual([block?.files?.[0]?.path, block?.same_output], ["o", true], again.text);
      assert.match(again.text, /\nFiles: o \(0 B\)\n\(same output as before\)/);
      const link = linksOf(again.content).find(({ name }) => name === "o");
      assert.equal(await bytesOf(client, link?.uri ?? ""), "");
    },
  },
  {
    id: "names of any kind are one line of text",
    async run({ session }) {
      const { run } = await session();
      await run(PREPARE);
      const names = ["new\nline", "esc\u001b[31m", "é 漢字 🐍", "\u202egnp.exe"];
      const reply = await run(`for n in ${JSON.stringify(names)}: open(n, 'w').close()`);
      const line = reply.text.split("\n").at(-1) ?? "";
      assert.match(
        line,
        /^Files: esc\\x1b\[31m \(0 B\), new\\x0aline \(0 B\), é 漢字 🐍 \(0 B\), \\u202egnp\.exe \(0 B\)$/,
      );
    },
  },
  {
    id: "a file whose name is not UTF-8 can be read by its link, or is said not to be there",
    async run({ client, session }) {
      const { run } = await session();
      await run(PREPARE);
      const reply = await run("_ = open(b'caf\\xe9 %', 'w').write('au lait')");
      const [link] = linksOf(reply.content);
      assert.match(link?.uri ?? "", /\/caf%E9%20%25$/);
      const [file] = reply.structured.files as readonly FileFacts[];
      assert.equal(file?.path, "caf\\udce9 %");
      const read = await bytesOf(client, link?.uri ?? "").catch((error: unknown) => String(error));
      assert.match(read, /^au lait$|not found/i);
    },
  },
  {
    id: "more files than can be named are counted, and links are few",
    async run({ session }) {
      const { run } = await session();
      await run(PREPARE);
      const reply = await run("for n in range(51): open(f'f{n:02}', 'w').close()");
      assert.match(reply.text, /^Files: f00 \(0 B\), .*, f19 \(0 B\) and 31 more$/m);
      assert.deepEqual(
        [(reply.structured.files as unknown[]).length, reply.structured.more_files, linksOf(reply.content).length],
        [20, 31, 10],
      );
    },
  },
];
