import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { encodeFrame, FrameError, FrameReader, MAX_FRAME_BYTES } from "../../src/backends/subprocess/frames.ts";

const values = [{ op: "a" }, { text: "é✓🔥\u2028\0" }, { long: "x".repeat(5000) }, { lone: "\ud800" }];

function join(frames: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(frames));
}

describe("frames", () => {
  const bytes = join(values.map(encodeFrame));

  test("are 4 bytes of big-endian length and UTF-8 JSON", () => {
    assert.deepEqual([...encodeFrame({ a: "é" })], [0, 0, 0, 10, ...Buffer.from('{"a":"é"}')]);
  });

  for (const size of [1, 2, 3, 5, 7, 64, 4096, bytes.length]) {
    test(`come out whole from chunks of ${size} bytes`, () => {
      const reader = new FrameReader();
      const found: unknown[] = [];
      for (let at = 0; at < bytes.length; at += size) found.push(...reader.push(bytes.subarray(at, at + size)));
      assert.deepEqual(found, values);
    });
  }

  test("an empty chunk is nothing", () => assert.deepEqual(new FrameReader().push(new Uint8Array()), []));

  test("a length over the bound is refused before its bytes come", () => {
    const header = new Uint8Array(4);
    new DataView(header.buffer).setUint32(0, MAX_FRAME_BYTES + 1);
    assert.throws(() => new FrameReader().push(header), FrameError);
  });

  test("what is no JSON or no UTF-8 is refused", () => {
    assert.throws(() => new FrameReader().push(new Uint8Array([0, 0, 0, 2, 0x7b, 0x7b])), FrameError);
    assert.throws(() => new FrameReader().push(new Uint8Array([0, 0, 0, 3, 0x22, 0xff, 0x22])), FrameError);
    assert.throws(() => new FrameReader().push(new Uint8Array([0, 0, 0, 0])), FrameError);
  });

  test("a value over the bound is not sent", () => {
    assert.throws(() => encodeFrame({ text: "x".repeat(MAX_FRAME_BYTES) }), FrameError);
  });

  test("reading costs the same per byte for small and large frames", () => {
    const body = { text: "x".repeat(8 * 1024 * 1024) };
    const frame = encodeFrame(body);
    const reader = new FrameReader();
    const started = performance.now();
    let found = 0;
    for (let at = 0; at < frame.length; at += 1024) found += reader.push(frame.subarray(at, at + 1024)).length;
    assert.equal(found, 1);
    assert.ok(performance.now() - started < 5000, "8 MiB in 8192 chunks took over 5 s");
  });
});
