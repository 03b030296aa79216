import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tokenCommand } from "../../adapters/cli/token.ts";
import { createAuthenticator } from "../../src/auth/authenticator.ts";
import { parseAuthSettings } from "../../src/auth/settings.ts";

const NOW = Date.UTC(2027, 0, 1);

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text), now: () => NOW };
  const code = await tokenCommand(args, io);
  return { code, out: out.join(""), err: err.join("") };
}

const tokenIn = (out: string): string => /\bepr_[A-Za-z0-9_-]{43}$/m.exec(out)?.[0] ?? "";
const entryIn = (out: string): string => /^ {2}(\S+:[0-9a-f]{64}\S*)$/m.exec(out)?.[1] ?? "";

describe("edge-python-repl token new", () => {
  it("prints a token that the printed line lets in", async () => {
    const { code, out, err } = await run("new", "alice");
    assert.equal(code, 0);
    assert.equal(err, "");
    assert.ok(!entryIn(out).includes(tokenIn(out)));
    const gate = createAuthenticator(parseAuthSettings({ REPL_AUTH: "token", REPL_TOKENS: entryIn(out) }));
    const headers = { authorization: `Bearer ${tokenIn(out)}` };
    const principal = await gate.authenticate(new Request("http://127.0.0.1/mcp", { method: "POST", headers }));
    assert.ok(!(principal instanceof Response));
    assert.equal(principal.name, "alice");
  });

  it("never prints the same token twice", async () => {
    assert.notEqual(tokenIn((await run("new", "alice")).out), tokenIn((await run("new", "alice")).out));
  });

  it("writes scopes and expiry into the line", async () => {
    assert.match(entryIn((await run("new", "a", "--scopes", "read")).out), /:read$/);
    assert.match(entryIn((await run("new", "--scopes=run,read", "a")).out), /:read\+run$/);
    assert.match(entryIn((await run("new", "a", "--expires", "90d")).out), /:read\+run:2027-04-01T00:00:00Z$/);
    assert.match(entryIn((await run("new", "a", "--expires=2027-02-01")).out), /:2027-02-01T00:00:00Z$/);
  });

  it("explains itself", async () => {
    const { code, out } = await run("--help");
    assert.equal(code, 0);
    assert.match(out, /^Usage: edge-python-repl token new NAME/);
  });

  const bad: readonly (readonly [string[], RegExp])[] = [
    [[], /Unknown token command ""/],
    [["old"], /Unknown token command "old"/],
    [["new"], /Wanted one NAME, got 0/],
    [["new", "a", "b"], /Wanted one NAME, got 2/],
    [["new", "../a"], /The name "..\/a" is not/],
    [["new", "a", "--scopes", "write"], /--scopes has the scopes "write"/],
    [["new", "a", "--scopes"], /--scopes needs a value/],
    [["new", "a", "--expires", "soon"], /--expires has the expiry "soon"/],
    [["new", "a", "--expires", "0d"], /not in the future/],
    [["new", "a", "--expires", "2026-12-31"], /not in the future/],
    [["new", "a", "--token", "x"], /Unknown option --token/],
  ];
  for (const [args, message] of bad) {
    it(`refuses ${JSON.stringify(args)} with code 2 and no token`, async () => {
      const { code, out, err } = await run(...args);
      assert.equal(code, 2);
      assert.equal(out, "");
      assert.match(err, message);
    });
  }
});
