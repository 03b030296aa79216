import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Output, StreamName, StreamOutput } from "../../src/core/execution.ts";
import { createOutputBuffer, type OutputBufferOptions } from "../../src/core/output-buffer.ts";

const out = (text: string, more: Partial<StreamOutput> = {}): StreamOutput => ({
  type: "stream",
  name: "stdout",
  text,
  ...more,
});
const show = (data: Record<string, string>, type: "display_data" | "execute_result" = "display_data"): Output => ({
  type,
  data,
});
const picture = (chars: number): Output => show({ "text/plain": "<F>", "image/png": "A".repeat(chars) });

function snapshotOf(options: OutputBufferOptions, outputs: readonly Output[]) {
  const buffer = createOutputBuffer(options);
  for (const output of outputs) buffer.push(output);
  return buffer.snapshot();
}

/** Small numbers that look random and are the same in every run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
}

describe("order and merging", () => {
  it("merges neighbours of one stream and keeps the order of streams", () => {
    const pieces = [out("a"), out("b"), out("x", { name: "stderr" }), out("c"), out("", {})];
    assert.deepEqual(snapshotOf({ maxChars: 100 }, pieces), {
      outputs: [out("ab"), out("x", { name: "stderr" }), out("c")],
      truncatedChars: 0,
    });
  });

  it("keeps late text apart from text of the block", () => {
    const { outputs } = snapshotOf({ maxChars: 100 }, [out("l", { late: true }), out("a"), out("b", { late: false })]);
    assert.deepEqual(outputs, [out("l", { late: true }), out("ab")]);
  });

  it("keeps displays where they were", () => {
    const { outputs } = snapshotOf({ maxChars: 100 }, [out("a"), picture(4), out("b")]);
    assert.deepEqual(outputs, [out("a"), picture(4), out("b")]);
  });

  it("can be looked at again and again while it grows", () => {
    const buffer = createOutputBuffer({ maxChars: 4 });
    buffer.push(out("abc"));
    assert.deepEqual(buffer.snapshot().outputs, [out("abc")]);
    buffer.push(out("def"));
    assert.deepEqual(buffer.snapshot(), buffer.snapshot());
    assert.deepEqual(buffer.snapshot().outputs, [out("ab"), out("ef", { dropped: 2 })]);
  });
});

describe("head and tail", () => {
  it("keeps everything up to the limit", () => {
    assert.deepEqual(snapshotOf({ maxChars: 6 }, [out("abc"), out("def")]).outputs, [out("abcdef")]);
  });

  it("keeps half from the start and half from the end, and counts the rest", () => {
    assert.deepEqual(snapshotOf({ maxChars: 6 }, [out("abcdefghij")]), {
      outputs: [out("abc"), out("hij", { dropped: 4 })],
      truncatedChars: 4,
    });
  });

  it("adds what the backend dropped, also where that piece is forgotten", () => {
    const backend = [out("abc"), out("d", { dropped: 100 }), out("efghi")];
    assert.deepEqual(snapshotOf({ maxChars: 6 }, backend), {
      outputs: [out("abc"), out("ghi", { dropped: 103 })],
      truncatedChars: 103,
    });
    assert.deepEqual(snapshotOf({ maxChars: 60 }, backend).outputs, [out("abc"), out("defghi", { dropped: 100 })]);
  });

  it("tells of dropped text also when none is left to carry it", () => {
    assert.deepEqual(snapshotOf({ maxChars: 10 }, [out("a"), out("", { dropped: 5 })]), {
      outputs: [out("a"), out("", { dropped: 5 })],
      truncatedChars: 5,
    });
    assert.equal(snapshotOf({ maxChars: 0 }, [out("abc"), out("de")]).truncatedChars, 5);
  });

  it("keeps displays between head and tail when the text around them is forgotten", () => {
    const { outputs, truncatedChars } = snapshotOf({ maxChars: 4 }, [out("abcd"), picture(4), out("efghij")]);
    assert.deepEqual(outputs, [out("ab"), picture(4), out("ij", { dropped: 6 })]);
    assert.equal(truncatedChars, 6);
  });

  it("never splits a surrogate pair", () => {
    for (let maxChars = 0; maxChars < 14; maxChars++) {
      for (const pieces of [["😀😀😀😀😀😀"], [..."😀x😀y😀"], "😀😀😀😀".split("")]) {
        const { outputs, truncatedChars } = snapshotOf(
          { maxChars },
          pieces.map((text) => out(text)),
        );
        const kept = outputs.map((output) => (output.type === "stream" ? output.text : "")).join("\n");
        assert.doesNotMatch(kept, /\p{Surrogate}/u, `${maxChars}: ${JSON.stringify(kept)}`);
        assert.equal(kept.replaceAll("\n", "").length + truncatedChars, pieces.join("").length);
        assert.ok(kept.replaceAll("\n", "").length <= maxChars);
      }
    }
  });

  it("gives the same for every way to cut the text into pieces", () => {
    const random = generator(7);
    for (let round = 0; round < 200; round++) {
      const runs = Array.from({ length: 1 + random(6) }, (_, index) => ({
        name: (index % 2 ? "stderr" : "stdout") as StreamName,
        text: Array.from({ length: random(40) }, () =>
          "ab\n😀é"[random(5)] === "😀" ? "😀" : "ab\nxé"[random(5)],
        ).join(""),
      })).filter((run) => run.text !== "");
      const maxChars = random(120);
      const whole = snapshotOf(
        { maxChars },
        runs.map((run) => out(run.text, run)),
      );
      const cut = runs.flatMap(({ name, text }) => {
        const pieces: StreamOutput[] = [];
        for (let from = 0; from < text.length; ) {
          const end = from + 1 + random(9);
          pieces.push(out(text.slice(from, end), { name }));
          from = end;
        }
        return pieces;
      });
      assert.deepEqual(snapshotOf({ maxChars }, cut), whole);
    }
  });
});

describe("endless output", () => {
  const megabyte = 1024 * 1024;

  it("takes 100 MB in huge pieces in little memory", () => {
    const buffer = createOutputBuffer({ maxChars: megabyte });
    for (let index = 0; index < 4; index++) buffer.push(out(`${index}`.repeat(25 * megabyte)));
    const { outputs, truncatedChars } = buffer.snapshot();
    assert.deepEqual(
      outputs.map((output) => output.type === "stream" && output.text.length),
      [megabyte / 2, megabyte / 2],
    );
    assert.equal(truncatedChars, 99 * megabyte);
  });

  it("takes millions of tiny pieces, also of streams that alternate", () => {
    const buffer = createOutputBuffer({ maxChars: megabyte });
    const [one, other] = [out("ab"), out("c", { name: "stderr" })];
    for (let index = 0; index < 1_000_000; index++) {
      buffer.push(one);
      if (index % 2) buffer.push(other);
    }
    const { outputs, truncatedChars } = buffer.snapshot();
    const kept = outputs.reduce((sum, output) => sum + (output.type === "stream" ? output.text.length : 0), 0);
    assert.equal(kept + truncatedChars, 2_500_000);
    assert.ok(outputs.length <= 10_300, `${outputs.length} pieces`);
  });
});

describe("displays", () => {
  it("bounds their number: of the others the text stays, and one sentence counts them", () => {
    const outputs = Array.from({ length: 5 }, (_, index) => show({ "text/plain": `<F${index}>`, "image/png": "AAAA" }));
    const kept = snapshotOf({ maxChars: 100, maxDisplays: 2 }, [out("no newline"), ...outputs]).outputs;
    assert.deepEqual(kept.slice(0, 3), [out("no newline"), outputs[0], outputs[1]]);
    assert.deepEqual(kept[3], {
      type: "display_data",
      data: {
        "text/plain":
          "(3 displays were omitted, except for their text: a block keeps 2 of them with 20,971,520 characters)",
      },
    });
    assert.deepEqual(kept.slice(4), [out("\n<F2>\n<F3>\n<F4>\n")]);
  });

  it("bounds their size: a picture too large is left out, later small ones stay", () => {
    const kept = snapshotOf({ maxChars: 100, maxDisplayChars: 100 }, [picture(200), picture(20)]).outputs;
    assert.equal(kept.length, 3);
    assert.match(JSON.stringify(kept[0]), /1 display was omitted/);
    assert.deepEqual(kept.slice(1), [out("<F>\n"), picture(20)]);
  });

  it("keeps the text of the value whatever came before it", () => {
    const value = show({ "text/plain": "42", "text/html": "<b>42</b>".repeat(99) }, "execute_result");
    const kept = snapshotOf({ maxChars: 100, maxDisplays: 0 }, [picture(4), value]).outputs;
    assert.deepEqual(kept.at(-1), show({ "text/plain": "42" }, "execute_result"));
  });

  it("cuts the text of a value in its middle, and says so", () => {
    const { outputs, truncatedChars } = snapshotOf({ maxChars: 10 }, [show({ "text/plain": "x".repeat(1010) })]);
    assert.deepEqual(outputs, [show({ "text/plain": "xxxxx\n… 1,000 characters omitted …\nxxxxx" })]);
    assert.equal(truncatedChars, 1000);
  });
});

describe("tail", () => {
  it("is the end of what was printed", () => {
    const buffer = createOutputBuffer({ maxChars: 8 });
    assert.equal(buffer.tail(10), "");
    buffer.push(out("abc"));
    buffer.push(out("d😀", { name: "stderr" }));
    assert.equal(buffer.tail(4), "cd😀");
    assert.equal(buffer.tail(1), "");
    buffer.push(out("0123456789"));
    assert.equal(buffer.tail(3), "789");
  });
});
