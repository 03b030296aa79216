import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { pythonLiteral } from "../../src/backends/e2b/cell-source.ts";
import { normal } from "../../src/backends/e2b/files.ts";
import { readLines } from "../../src/backends/e2b/lines.ts";
import { refusalOf } from "../../src/backends/e2b/proxy-answer.ts";
import { createSeal } from "../../src/backends/e2b/seal.ts";

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === "string" ? new TextEncoder().encode(part) : part;
}

async function linesOf(source: AsyncIterable<Uint8Array>, maxBytes = 1e6): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(source, maxBytes)) lines.push(line);
  return lines;
}

describe("lines of a stream", () => {
  test("wherever it is cut, inside characters too; what follows the last newline is no line", async () => {
    const bytes = new TextEncoder().encode("é€\n\n😀 x\nrest");
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    assert.deepEqual(await linesOf(chunks(...single)), ["é€", "", "😀 x"]);
    assert.deepEqual(await linesOf(chunks("a\nb", "c\n")), ["a", "bc"]);
    assert.deepEqual(await linesOf(chunks()), []);
  });

  test("a line over the limit is refused before it is kept", async () => {
    await assert.rejects(linesOf(chunks("x".repeat(60), "x".repeat(60)), 100), RangeError);
  });

  test("time grows with the bytes, not with their square", async () => {
    const piece = new TextEncoder().encode("x".repeat(1000));
    async function* long(count: number): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < count; i += 1) yield piece;
      yield Uint8Array.of(10);
    }
    const took = async (count: number): Promise<number> => {
      const from = performance.now();
      assert.equal((await linesOf(long(count), 1e9))[0]?.length, count * 1000);
      return performance.now() - from;
    };
    await took(500);
    const [small, large] = [await took(1_000), await took(16_000)];
    assert.ok(large < 16 * 8 * Math.max(small, 1), `${small} ms for 1 MB, ${large} ms for 16 MB`);
  });
});

test("a text reaches Python as it is, in one line of ASCII", () => {
  const text = "\"'\\ \n\r\t\b\f\u0000\u007f\u2028é€😀\ud800 %magic? \\N{DEGREE SIGN}";
  const literal = pythonLiteral(text);
  assert.match(literal, /^[\x20-\x7e]*$/);
  const program = `import json; print(json.dumps(${literal}))`;
  const printed = execFileSync("python3", ["-c", program], { encoding: "utf8" });
  assert.equal(JSON.parse(printed), text);
});

test("paths are made plain without asking the sandbox", () => {
  assert.deepEqual(["/a//b/./c", "/a/../../b", "/", "/a/b/.."].map(normal), ["/a/b/c", "/b", "/", "/a"]);
});

describe("answers of the proxy", () => {
  const answer = (status: number, message = "", headers: Record<string, string> = {}) =>
    refusalOf(new Response(JSON.stringify({ message }), { status, headers }));

  test("are told apart by status and message", async () => {
    assert.deepEqual(await answer(502, "The sandbox was not found"), { kind: "gone" });
    assert.deepEqual(await answer(403), { kind: "denied" });
    assert.equal((await answer(502, "The sandbox is running but port is not open")).kind, "retry");
    for (const status of [409, 429, 500, 503, 504]) assert.equal((await answer(status)).kind, "retry");
    assert.deepEqual(await answer(404, "Not Found"), { kind: "failed", status: 404, message: "Not Found" });
  });

  test("Retry-After counts when it is a number of seconds, up to a bound", async () => {
    const waits = async (value: string) => {
      const refusal = await answer(429, "", { "retry-after": value });
      return refusal.kind === "retry" ? refusal.afterMs : undefined;
    };
    assert.deepEqual([await waits("2"), await waits("999"), await waits("soon")], [2_000, 10_000, 1_000]);
  });
});

test("a seal opens with its own key and name only, and twice sealed is never the same", async () => {
  const [key, other] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
  const seal = createSeal(key);
  const sealed = await seal.seal({ a: "secret" }, "name");
  assert.ok(!sealed.includes("secret"));
  assert.notEqual(sealed, await seal.seal({ a: "secret" }, "name"));
  assert.deepEqual(await seal.open(sealed, "name"), { a: "secret" });
  assert.equal(await seal.open(sealed, "other"), undefined);
  assert.equal(await createSeal(other).open(sealed, "name"), undefined);
  assert.deepEqual(await createSeal(`${other},${key}`).open(sealed, "name"), { a: "secret" }, "an earlier key");
  await assert.rejects(createSeal("a passphrase").open(sealed, "name"), /REPL_SEAL_KEY must be 32 random bytes/);
  assert.equal(await seal.open(sealed.slice(0, -4), "name"), undefined);
  assert.equal(await seal.open("?", "name"), undefined);
});

test("the Python that sandboxes get is that of the source files", () => {
  const script = fileURLToPath(new URL("../../scripts/embed-worker.mjs", import.meta.url));
  execFileSync(process.execPath, [script, "--check"], { stdio: "pipe" });
});
