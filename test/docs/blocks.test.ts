import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { transform } from "esbuild";
import { CHECKS } from "../../adapters/cli/doctor-checks.ts";
import { parseToml } from "../../adapters/cli/setup-toml.ts";
import { type ServerProcess, startServer } from "../helpers/server.ts";
import type { ReplClient } from "../http/client.ts";
import { connect } from "../http/processes.ts";
import { parseYaml } from "../packaging/small-yaml.ts";
import { type Block, blocksOf, readPage, readPages } from "./markdown.ts";

/** Every block of code on a page that is no command: it parses, and where it is Python it runs. */

let server: ServerProcess;
let client: ReplClient;
const closing: (() => unknown)[] = [];
before(async () => {
  server = await startServer();
  client = await connect({ after: (task) => void closing.push(task) }, { url: server.url });
});
after(async () => {
  for (const close of closing) await close();
  await server.stop();
});

let sessions = 0;
async function newSession(): Promise<string> {
  sessions += 1;
  const session_id = `page-${sessions}`;
  await client.call("create_session", { session_id });
  return session_id;
}

type Check = (text: string) => unknown;

const INSTRUCTION = /^(?:FROM|USER|RUN|COPY|ENV|WORKDIR|ENTRYPOINT|CMD|VOLUME|EXPOSE|#)\b|^#/;

/** By language; console and shell blocks are run by commands.test.ts. */
const CHECK: Readonly<Record<string, Check>> = {
  json: (text) => JSON.parse(text),
  toml: (text) => assert.ok(parseToml(text).length > 0),
  yaml: (text) => parseYaml(text),
  ts: (text) => transform(text, { loader: "ts" }),
  js: (text) => transform(text, { loader: "js" }),
  dockerfile: (text) => {
    const lines = text.replace(/\\\n/g, " ").trimEnd().split("\n");
    for (const line of lines) assert.match(line, INSTRUCTION);
  },
  python: async (code) => {
    const { structured, text } = await client.call("run_code", { session_id: await newSession(), code });
    assert.equal(structured.status, "ok", text);
  },
};

/** What is no program: how a transcript or a report reads. Which check holds is told by its first line. */
const SHOWN: readonly { readonly begins: RegExp; readonly check: Check }[] = [
  {
    begins: /^\[1\] /,
    check: async (text) => {
      const code = text.match(/^(?:\[1\] | {4}).*$/gm)?.map((line) => line.slice(4));
      const reply = await client.call("run_code", { session_id: await newSession(), code: code?.join("\n") });
      assert.equal(`${reply.text}\n`, text);
    },
  },
  {
    begins: /^ok {4}settings /,
    check: (text) => {
      const shown = [...text.matchAll(/^(?:ok|warn|skip|FAIL) +(\w+)/gm)].map(([, id]) => id);
      assert.deepEqual([...new Set(shown)], ["settings", ...CHECKS.map(({ id }) => id)]);
    },
  },
];

const SHELLS = ["console", "sh"];

function checkOf({ language, text }: Block): Check | undefined {
  if (language !== "" && language !== "text") return CHECK[language];
  return SHOWN.find(({ begins }) => begins.test(text))?.check;
}

describe("blocks of code", () => {
  for (const page of readPages()) {
    for (const block of blocksOf(page)) {
      if (SHELLS.includes(block.language)) continue;
      test(`${page.path}:${block.line} ${block.language}`, async () => {
        const check = checkOf(block);
        assert.ok(check, `No check for the language ${JSON.stringify(block.language)}: add one to this file`);
        await check(block.text);
      });
    }
  }
});

test("the README's first picture is a picture", async () => {
  const code = blocksOf(readPage("README.md")).find(({ language }) => language === "python")?.text;
  const reply = await client.call("run_code", { session_id: await newSession(), code });
  const parts = reply.content as readonly {
    readonly resource?: { readonly mimeType: string; readonly text: string };
  }[];
  const svg = parts.find(({ resource }) => resource?.mimeType === "image/svg+xml")?.resource?.text;
  assert.match(svg ?? "", /^<svg .*<polyline .*<\/svg>$/, reply.text);
});

test("the README's configurations start this package and reach its endpoint", () => {
  const [command, url] = blocksOf(readPage("README.md"))
    .filter(({ language }) => language === "json")
    .map(({ text }) => JSON.parse(text).mcpServers.python);
  assert.deepEqual(command, { command: "npx", args: ["-y", "edge-python-repl"] });
  assert.equal(new URL(url.url).pathname, server.url.pathname);
});
