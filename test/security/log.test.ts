import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createStorage, type Storage } from "unstorage";
import { makeApp, type TestApp } from "./app-setup.ts";

const CODE = "code_of_the_caller = 'sesame-code'";

/** Calls of all kinds, with texts in them that have no place in a log. */
async function traffic(subject: TestApp): Promise<void> {
  const alice = subject.client("alice");
  await alice.tool("create_session", { session_id: "a" });
  await alice.tool("run_code", { session_id: "a", code: CODE });
  await alice.tool("run_code", { session_id: "a", code: "print 500" });
  await alice.tool("run_code", { session_id: "a", code: "raise" });
  await alice.tool("run_code", { session_id: "sesame with blanks", code: "1" });
  await alice.tool("run_code", { session_id: { nested: "sesame-object" }, code: "1" });
  await alice.tool("write_file", { session_id: "a", path: "/sesame-path", content: "sesame-content" });
  await alice.tool("install_package", { package_name: "sesame-package" });
  await alice.tool("no_such_tool sesame", {});
  await alice.tool("create_session", {});
  await subject.client("bob").tool("run_code", { session_id: "a", code: "1" });
  await subject.client("sesame-token").ask("ping");
  await subject.send("/mcp?access_token=sesame-query");
}

describe("the log", () => {
  test("is one JSON object a line, each with its time and kind", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"] });
    await traffic(subject);
    assert.ok(subject.log.length > 10);
    for (const line of subject.log) {
      assert.match(line, /^[^\n]*\n$/);
      const { time, event } = JSON.parse(line);
      assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000);
      assert.match(event, /^[a-z ]+$/);
    }
    await subject.close();
  });

  test("has one line for each call: who, what, how it ended, how long it took", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob:read"] });
    await traffic(subject);
    const calls = subject.events("call");
    assert.deepEqual(
      calls.map(({ by, tool, session, outcome }) => [by, tool, session, outcome]),
      [
        ["alice", "create_session", "a", "ok"],
        ["alice", "run_code", "a", "ok"],
        ["alice", "run_code", "a", "ok"],
        ["alice", "run_code", "a", "error"],
        ["alice", "run_code", "(not a name)", "INVALID_SESSION_ID"],
        ["alice", "run_code", "(not a name)", "INVALID_ARGUMENT"],
        ["alice", "write_file", "a", "ok"],
        ["alice", "install_package", undefined, "ok"],
        ["alice", "(not a name)", undefined, "unknown tool"],
        ["alice", "create_session", calls.at(-1)?.session, "ok"],
      ],
    );
    assert.match(String(calls.at(-1)?.session), /^[0-9a-f]{8}$/);
    for (const { owner, ms, request } of calls) {
      assert.match(String(owner), /^[0-9a-f]{40}$/);
      assert.ok(Number(ms) >= 0);
      assert.match(String(request), /^[0-9a-f-]{36}$/);
    }
    await subject.close();
  });

  test("has one line for each form of the notebook page, without what was typed", async () => {
    const subject = await makeApp({ tokens: ["alice"] });
    const alice = subject.client("alice");
    await alice.page("POST", "/sessions", { session_id: "a" });
    await alice.page("POST", "/s/a/run", { code: "'sesame-code'" });
    await alice.page("POST", "/s/none/delete");
    const actions = subject.events("action").map(({ by, path, status }) => [by, path, status]);
    assert.deepEqual(actions, [
      ["alice", "/sessions", 303],
      ["alice", "/s/a/run", 303],
      ["alice", "/s/none/delete", 404],
    ]);
    assert.doesNotMatch(subject.log.join(""), /sesame/);
    await subject.close();
  });

  test("has a line for each request that was refused, with the owner once it is known", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob:read"] });
    await traffic(subject);
    const owner = subject.events("call")[0]?.owner;
    const refused = subject
      .events("refused")
      .map(({ status, path, method, ...rest }) => [status, method, path, typeof rest.owner]);
    assert.deepEqual(refused, [
      [403, "POST", "/mcp", "string"],
      [401, "POST", "/mcp", "undefined"],
    ]);
    assert.notEqual(subject.events("refused")[0]?.owner, owner);
    await subject.close();
  });

  test("has one line a second for requests of an owner that are too many, and none of another's is lost", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"], settings: { REPL_RATE_PER_MINUTE: "1" } });
    const flood = Array.from({ length: 30 }, () => subject.client("alice").ask("ping"));
    await Promise.all([...flood, subject.client("bob").ask("ping"), subject.client("bob").ask("ping")]);
    const refused = subject.events("refused").map(({ status, more }) => [status, more]);
    assert.deepEqual(refused, [
      [429, undefined],
      [429, undefined],
    ]);
    await subject.close();
  });

  test("names the request by the id that the caller got, in every line about the call", async () => {
    const subject = await makeApp({ tokens: ["alice"] });
    const reply = await subject.client("alice").tool("create_session", { session_id: "a" });
    const failing = await makeApp({ tokens: ["alice"], storage: brokenStorage() });
    const failed = await failing.client("alice").tool("create_session", { session_id: "a" });
    assert.deepEqual(
      subject.events("call").map(({ request }) => request),
      [reply.headers.get("x-request-id")],
    );
    assert.equal(failed.content.code, "STORAGE_UNAVAILABLE");
    for (const event of ["call", "call failed"]) {
      assert.deepEqual(
        failing.events(event).map(({ request }) => request),
        [failed.headers.get("x-request-id")],
        event,
      );
    }
    assert.match(String(failing.events("call failed")[0]?.error), /the disk is gone/);
    assert.doesNotMatch(failed.text, /disk/);
    await Promise.all([subject.close(), failing.close()]);
  });

  test("holds no code, no output, no argument, no token", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"] });
    await traffic(subject);
    assert.doesNotMatch(subject.log.join(""), /sesame|xxxxxx|epr_|Bearer/);
    await subject.close();
  });

  test("at the level debug holds code, which it says at once; still no output and no token", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"], settings: { REPL_LOG: "debug" } });
    assert.match(subject.log[0] ?? "", /"event":"warning".*THIS LOG HOLDS THE CODE THAT CALLERS RUN/);
    await traffic(subject);
    assert.ok(subject.log.join("").includes("sesame-code"));
    assert.doesNotMatch(subject.log.join(""), /sesame-(?!code)|xxxxxx|epr_/);
    await subject.close();
  });

  test("at the level off holds nothing", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"], settings: { REPL_LOG: "off" } });
    await traffic(subject);
    assert.deepEqual(subject.log, []);
    await subject.close();
  });

  test("tells how a call ended also where replies carry no structured content", async () => {
    const subject = await makeApp({ settings: { REPL_STRUCTURED: "off" } });
    await subject.client().tool("create_session", { session_id: "a" });
    for (const code of ["1", "raise"]) await subject.client().tool("run_code", { session_id: "a", code });
    assert.deepEqual(
      subject.events("call").map(({ outcome }) => outcome),
      ["ok", "ok", "error"],
    );
    await subject.close();
  });
});

function brokenStorage(): Storage {
  const fail = (): never => {
    throw new Error("the disk is gone");
  };
  return createStorage({
    driver: { name: "broken", hasItem: fail, getItem: fail, setItem: fail, removeItem: fail, getKeys: fail },
  });
}
