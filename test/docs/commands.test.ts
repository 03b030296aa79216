import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, type TestContext, test } from "node:test";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { until } from "../helpers/process.ts";
import { type ServerProcess, startServer, waitUntilHealthy } from "../helpers/server.ts";
import { noRedis, type RedisServer, startRedis } from "../stores/redis-server.ts";
import { type Clone, makeClone } from "./clone.ts";
import { type Command, commandsOf, commandsOfTable, partsOf, patternOf } from "./console.ts";
import { blocksOf, readPages } from "./markdown.ts";
import { missingFor, RULES, type Rule, ruleOf } from "./rules.ts";

/** Every command of README.md, CONTRIBUTING.md and docs/, from top to bottom, as its reader would run it. */

const PAGES = 3;
const LIMIT_MS = 55_000;
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "docs", version: "1.0.0" } },
});

const pages = readPages().flatMap((page) => {
  const shells = blocksOf(page).filter(({ language }) => language === "console" || language === "sh");
  const tables = page.sections.flatMap(({ tables }) => tables);
  return [
    { path: page.path, commands: shells.flatMap(commandsOf) },
    { path: `${page.path}, tables`, commands: tables.flatMap(commandsOfTable) },
  ];
});

let server: ServerProcess;
let standIn: StandIn;
let redis: RedisServer | undefined;

before(async () => {
  [server, standIn, redis] = await Promise.all([startServer(), startStandIn(), noRedis ? undefined : startRedis()]);
});
after(() => Promise.all([server.stop(), standIn.close(), redis?.stop()]));

/** Addresses on pages are those of a reader's machine. */
function here(text: string): string {
  return text.replaceAll("127.0.0.1:8000", server.url.host).replaceAll("redis://127.0.0.1:6379", redis?.url ?? "");
}

function environment(): Record<string, string> {
  return { E2B_API_KEY: standIn.apiKey, E2B_API_URL: standIn.apiUrl, E2B_SANDBOX_URL: standIn.sandboxUrl };
}

function assertShown(output: string, { output: shown, text }: Command): void {
  if (shown.length === 0) return;
  const pattern = patternOf(shown.map(here));
  assert.match(output.endsWith("\n") ? output : `${output}\n`, pattern, `${text} printed:\n${output}`);
}

type Try = (clone: Clone, line: string, command: Command, rule: Rule) => Promise<void>;

const once: Try = async (clone, line, command, { input }) => {
  const { code, output } = await clone.run(here(line), { env: environment(), input: input ?? "" });
  assert.equal(code, 0, output);
  assertShown(output, command);
};

const serve: Try = async (clone, line, command) => {
  const started = await clone.start(here(line), environment());
  try {
    let ended = false;
    started.running.exited.then(() => (ended = true));
    const url = await until(
      () => {
        assert.ok(!ended, started.output());
        return /serves (http:\S+\/mcp)[\s\S]*^ {4}\}$/m.exec(started.output())?.[1];
      },
      `${line} to serve`,
      30_000,
    );
    await waitUntilHealthy(url);
    // The server of the other commands stands for the one of the page, so its address is the one that is expected.
    assertShown(started.output().replaceAll(new URL(url).host, server.url.host), command);
  } finally {
    await started.stop();
  }
};

const stdio: Try = async (clone, line) => {
  const { code, output } = await clone.run(`(${line}) 2>/dev/null`, { env: environment(), input: `${INITIALIZE}\n` });
  const messages = output
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text));
  assert.deepEqual([code, messages.length, messages[0].result.serverInfo.name], [0, 1, "edge-python-repl"]);
};

const TRIES: Readonly<Record<Rule["how"], Try | undefined>> = { once, serve, stdio, none: undefined };

/** Commands of which no output is shown need to be tried on one page only. */
const tried = new Set<string>();

async function tryCommand(context: TestContext, clone: Clone, command: Command): Promise<void> {
  assert.equal(spawnSync("bash", ["-n", "-c", command.text]).status, 0, "Bash does not understand it");
  const parts = partsOf(command.text);
  const skipped: string[] = [];
  for (const part of parts) {
    const rule = ruleOf(part);
    assert.ok(rule, `No rule of test/docs/rules.ts says how to run ${JSON.stringify(part)}, or why it cannot run`);
    const attempt = TRIES[rule.how];
    const why = rule.why ?? missingFor(part);
    // What is shown is what the last part prints.
    const shown = part === parts.at(-1) ? command : { ...command, output: [] };
    if (!attempt || why) skipped.push(`${part}: ${why}`);
    else if (shown.output.length > 0 || !tried.has(part)) {
      tried.add(part);
      await attempt(clone, rule.as?.(part) ?? part, shown, rule);
    }
  }
  if (skipped.length > 0) context.skip(skipped.join("; "));
}

describe("commands", { concurrency: PAGES }, () => {
  for (const { path, commands } of pages) {
    if (commands.length === 0) continue;
    test(path, async (page) => {
      const clone = makeClone();
      page.after(() => clone.remove());
      for (const command of commands) {
        const name = `${command.line || "table"}: ${command.text.split("\n")[0]}`;
        await page.test(name, { timeout: LIMIT_MS }, (context) => tryCommand(context, clone, command));
      }
    });
  }
});

test("no rule is without a command", () => {
  const all = pages.flatMap(({ commands }) => commands.flatMap(({ text }) => partsOf(text)));
  const used = new Set(all.map(ruleOf));
  assert.deepEqual(
    RULES.filter((rule) => !used.has(rule)).map(({ pattern }) => String(pattern)),
    [],
  );
});
