import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { createFsDriver } from "../../adapters/drivers/fs-atomic.ts";

const folder = mkdtempSync(join(tmpdir(), "fs-logs-processes-"));
const program = join(folder, "log-writer.mjs");
/** No process of this test lives longer, whatever goes wrong. */
const LIMIT_MS = 30_000;

before(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL("log-writer.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
});
after(() => rmSync(folder, { recursive: true, force: true }));

type Writer = {
  readonly lines: string[];
  readonly begun: Promise<unknown>;
  stop(): Promise<void>;
  ended: Promise<unknown>;
};

function start(command: readonly string[], ...args: readonly (string | number)[]): Writer {
  const [name = "", ...rest] = [...command, program, ...args.map(String)];
  const child: ChildProcess = spawn(name, rest, { stdio: ["ignore", "pipe", "inherit"] });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  child.once("close", () => clearTimeout(limit));
  const lines: string[] = [];
  let tail = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const parts = (tail + text).split("\n");
    tail = parts.pop() ?? "";
    lines.push(...parts);
  });
  const ended = once(child, "close");
  const begun = once(child.stdout as NodeJS.ReadableStream, "data");
  return {
    lines,
    begun,
    ended,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const node = [process.execPath];

/** Runs `task` while the writers write. */
async function beside(writers: readonly Writer[], task: () => Promise<void>): Promise<void> {
  try {
    await Promise.all(writers.map(({ begun }) => begun));
    await task();
  } finally {
    await Promise.all(writers.map(({ stop }) => stop()));
  }
}

/** What a value must be if it is there; a part of one, or of two, is not. */
function assertWhole(text: unknown, number: number): number {
  assert.ok(typeof text === "string", `value ${number} is not there`);
  const value = JSON.parse(text);
  assert.equal(value.number, number);
  assert.match(value.text, new RegExp(`^${value.round % 10}*$`));
  return value.round;
}

/** Runs `look` again and again, letting the writers' output in between. */
async function looking(ms: number, look: () => void): Promise<number> {
  let count = 0;
  for (const end = Date.now() + ms; Date.now() < end; count += 1) {
    look();
    if (count % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return count;
}

test("four processes append to one log and are killed at any moment: what they acknowledged is there", async () => {
  const root = join(folder, "append");
  const acknowledged: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const from = round * 100_000;
    const writers = [0, 1, 2, 3].map((n) => start(node, root, "append", from + n, 4, round % 2 === 0 ? 100 : 20_000));
    await beside(writers, () => new Promise((resolve) => setTimeout(resolve, Math.random() * 100)));
    acknowledged.push(...writers.flatMap(({ lines }) => lines).map(Number));
  }
  assert.ok(acknowledged.length > 24);
  const driver = createFsDriver(root);
  for (const number of acknowledged) assert.equal(assertWhole(driver.getItem(`b:${number}`), number), number);
});

test("while others replace, remove and write the log anew, a reader sees whole values, and none that is older", async () => {
  const root = join(folder, "replace");
  const writers = [0, 10, 20].map((first) => start(node, root, "replace", first, 1, 30_000));
  const driver = createFsDriver(root);
  const seen = new Map<number, number>();
  const look = (): void => {
    for (const number of [0, 4, 13, 22]) {
      const round = assertWhole(driver.getItem(`b:${number}`), number);
      assert.ok(round >= (seen.get(number) ?? 0), `value ${number} went back to ${round} from ${seen.get(number)}`);
      seen.set(number, round);
    }
    const passing = driver.getItem("b:15");
    if (passing !== null) assertWhole(passing, 15);
  };
  await beside(writers, async () => {
    assert.ok((await looking(2_500, look)) > 50);
  });
  for (const round of seen.values()) assert.ok(round > 5, "there was something to see");
});

test("a log that comes and goes loses nothing that others write", async () => {
  const root = join(folder, "flicker");
  const writers = [0, 1, 2].map((number) => start(node, root, "flicker", number, 1, 10));
  const driver = createFsDriver(root);
  const look = (): void => {
    driver.setItem?.("b:500", '{"mine":1}', {});
    assert.equal(driver.getItem("b:500"), '{"mine":1}');
    driver.removeItem?.("b:500", {});
    assert.equal(driver.getItem("b:500"), null);
  };
  await beside(writers, async () => {
    assert.ok((await looking(1_500, look)) > 50);
  });
  for (const { lines } of writers) assert.ok(lines.length > 5);
});

test("a full disk takes nothing: what was acknowledged is there, and nothing of what was not", async () => {
  const root = join(folder, "full");
  // A limit for the size of files stands in for the disk: the last write is taken in part, then refused.
  const limited = ["bash", "-c", `trap '' XFSZ; ulimit -f 100; exec "$0" "$@"`, process.execPath];
  const { lines, ended } = start(limited, root, "fill", 0, 1, 3_000);
  await ended;
  assert.match(lines.pop() ?? "", /^full (?:Only \d+ of \d+ bytes could be written|EFBIG)/);
  assert.ok(lines.length > 20);
  const driver = createFsDriver(root);
  for (const line of lines) assertWhole(driver.getItem(`b:${line}`), Number(line));
  assert.equal(driver.getItem(`b:${lines.length}`), null);
  assert.ok(readFileSync(join(root, "data", "b", "0.log"), "latin1").endsWith("}\n"), "it was cut back");
  driver.setItem?.(`b:${lines.length}`, "1", {});
  assert.equal(driver.getItem(`b:${lines.length}`), "1");
});
