import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  importSealKey,
  openJson,
  randomSealKey,
  SealError,
  sealJson,
  sign,
  verifySignature,
} from "../../src/auth/seal.ts";

const base64 = (fill: number): string => btoa(String.fromCharCode(...new Uint8Array(32).fill(fill)));
const isSealError = (error: unknown): boolean => error instanceof SealError;

describe("sealing", () => {
  it("gives back any JSON, and shows none of it", async () => {
    const key = await importSealKey(base64(1));
    const value = { token: "traffic-token", n: [1, null, "é\u{1F600}"] };
    const text = await sealJson(key, value);
    assert.match(text, /^s1\.[0-9a-f]{16}\.[A-Za-z0-9_-]+$/);
    assert.deepEqual(await openJson(key, text), value);
    assert.notEqual(await sealJson(key, value), text, "never twice the same");
  });

  it("notices each change of a character", async () => {
    const key = await importSealKey(base64(1));
    const text = await sealJson(key, "x");
    for (let i = 0; i < text.length; i++) {
      const changed = text.slice(0, i) + (text[i] === "0" ? "1" : "0") + text.slice(i + 1);
      // The last character of base64url may hold bits that mean nothing.
      if (i === text.length - 1) continue;
      await assert.rejects(openJson(key, changed), isSealError, `at ${i}`);
    }
  });

  it("binds a value to its place", async () => {
    const key = await importSealKey(base64(1));
    const text = await sealJson(key, "x", "owner-a/session");
    assert.equal(await openJson(key, text, "owner-a/session"), "x");
    await assert.rejects(openJson(key, text, "owner-b/session"), isSealError);
    await assert.rejects(openJson(key, text), isSealError);
  });

  it("opens with an earlier key, and seals with the first", async () => {
    const old = await importSealKey(base64(1));
    const both = await importSealKey(`${base64(2)}, ${base64(1)}`);
    const text = await sealJson(old, "x");
    assert.equal(await openJson(both, text), "x");
    const fresh = await sealJson(both, "y");
    assert.equal(await openJson(await importSealKey(base64(2)), fresh), "y");
    await assert.rejects(openJson(old, fresh), /a key that this server does not have/);
  });

  it("refuses what is no sealed text", async () => {
    const key = await randomSealKey();
    const text = await sealJson(key, "x");
    for (const bad of ["", "s1", "s1..", text.replace("s1", "s2"), `${text}.x`, text.slice(0, 30), "{}", `${text}%`]) {
      await assert.rejects(openJson(key, bad), isSealError, bad);
    }
  });

  it("takes keys of 32 bytes only, in base64 or base64url, and shows none of them", async () => {
    await importSealKey(base64(255).replaceAll("/", "_").replace("=", ""));
    for (const bad of ["", "correct horse battery staple", btoa("short"), base64(1).slice(4)]) {
      await assert.rejects(
        importSealKey(bad),
        (error: Error) =>
          error.message.startsWith("REPL_SEAL_KEY must be 32") && (bad === "" || !error.message.includes(bad)),
      );
    }
  });

  it("signs with a key of its own, and checks earlier ones too", async () => {
    const old = await importSealKey(base64(1));
    const both = await importSealKey(`${base64(2)} ${base64(1)}`);
    const signature = await sign(old, "text");
    assert.equal(await verifySignature(both, "text", signature), true);
    assert.equal(await verifySignature(both, "texs", signature), false);
    assert.equal(await verifySignature(both, "text", ""), false);
    assert.equal(await verifySignature(both, "text", "not base64!"), false);
  });
});
