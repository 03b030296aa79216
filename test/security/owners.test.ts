import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { TOOLS } from "../../src/mcp/registry.ts";
import { RESOURCE_TEMPLATES } from "../../src/mcp/resources.ts";
import { SESSION_ACTIONS } from "../../src/web/actions.ts";
import { makeApp, type TestApp } from "./app-setup.ts";
import { createFakeBackend } from "./fake-backend.ts";

const ID = "plans-of-alice";

/** Arguments with which each tool would work on a session that has a block and a file. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  run_code: { code: "1" },
  run_file: { path: "/file.py" },
  delete_history: { start: 0 },
  export_history: { path: "/out.txt" },
  save_script: { path: "/out.py" },
  install_package: { package_name: "numpy" },
  read_file: { path: "/file.py" },
  write_file: { path: "/file.py", content: "x" },
};

const NEEDS_SESSION = TOOLS.filter(({ inputSchema }) => "session_id" in (inputSchema.properties ?? {}));
const URIS = RESOURCE_TEMPLATES.map(({ uriTemplate }) =>
  uriTemplate
    .replace("{id}", ID)
    .replace("{index}", "0")
    .replace("{+path}", "/file.py")
    .replace(/\{\?.*\}/, ""),
);
const PAGES = ["", "/live", "/export/ipynb", "/delete", "/blocks/0/output", "/blocks/0/pictures/0"].map(
  (rest) => `/s/${ID}${rest}`,
);
const FORMS = [...Object.keys(SESSION_ACTIONS), "delete", "blocks/0/run-again"].map((action) => `/s/${ID}/${action}`);

/** The two worlds differ in one thing: in the first the session exists, and is alice's. */
describe("a session of another owner answers exactly like one that does not exist", () => {
  const backend = createFakeBackend();
  let inhabited: TestApp;
  let empty: TestApp;
  before(async () => {
    const tokens = ["alice", "bob"];
    [inhabited, empty] = await Promise.all([makeApp({ tokens, backend }), makeApp({ tokens })]);
    const alice = inhabited.client("alice");
    await alice.tool("create_session", { session_id: ID });
    await alice.tool("run_code", { session_id: ID, code: "1" });
    await alice.tool("write_file", { session_id: ID, path: "/file.py", content: "print(1)" });
  });
  after(() => Promise.all([inhabited.close(), empty.close()]));

  const bothSay = async (ask: (subject: TestApp) => Promise<{ status: number; headers: Headers; body: string }>) => {
    const [one, other] = [await ask(inhabited), await ask(empty)];
    assert.deepEqual(comparable(one), comparable(other));
    return one;
  };

  for (const { name } of NEEDS_SESSION.filter((tool) => tool.name !== "create_session")) {
    test(`in the tool ${name}`, async () => {
      const params = { name, arguments: { session_id: ID, ...ARGUMENTS[name] } };
      const { body } = await bothSay((subject) => subject.client("bob").ask("tools/call", params));
      assert.match(body, /SESSION_NOT_FOUND/);
    });
  }

  for (const uri of URIS) {
    test(`in the resource ${uri}`, async () => {
      const { body } = await bothSay((subject) => subject.client("bob").ask("resources/read", { uri }));
      assert.match(body, /not found/i);
    });
  }

  const requests = [
    ...PAGES.map((path) => ({ method: "GET", path }) as const),
    ...FORMS.map((path) => ({ method: "POST", path }) as const),
  ];
  for (const { method, path } of requests) {
    test(`in the page ${method} ${path}`, async () => {
      const { status } = await bothSay(async (subject) => {
        const response = await subject.client("bob").page(method, path);
        return { status: response.status, headers: response.headers, body: await response.text() };
      });
      assert.equal(status, 404);
    });
  }

  test("in lists, and when a name is taken", async () => {
    await bothSay((subject) => subject.client("bob").ask("tools/call", { name: "list_sessions", arguments: {} }));
    await bothSay((subject) => subject.client("bob").ask("resources/list"));
    await bothSay((subject) => subject.client("bob").ask("resources/read", { uri: "repl://sessions" }));
    for (const subject of [inhabited, empty]) {
      assert.equal((await subject.client("bob").tool("create_session", { session_id: ID })).isError, false);
      assert.equal((await subject.client("bob").tool("delete_session", { session_id: ID })).isError, false);
    }
  });

  test("and is as it was", async () => {
    const alice = inhabited.client("alice");
    assert.match((await alice.tool("get_history", { session_id: ID })).text, /^\[1\] 1\n1$/);
    assert.match((await alice.tool("read_file", { session_id: ID, path: "/file.py" })).text, /print\(1\)/);
    assert.deepEqual(backend.installs, []);
  });
});

describe("an owner", () => {
  test("is the token's name, whatever else a request says", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"] });
    await subject.client("alice").tool("create_session", { session_id: "mine" });
    const owner = subject.events("call")[0]?.owner;
    const principal = encodeURIComponent(JSON.stringify({ owner, name: "alice", scopes: ["repl:read", "repl:run"] }));
    const smuggled = [
      { "x-edge-repl-principal": principal },
      { "x-edge-repl-principal": String(owner) },
      { "x-edge-repl-visitor": principal },
      { "x-forwarded-user": "alice", "x-remote-user": "alice", forwarded: "by=alice" },
      { cookie: `repl_login=${principal}; __Host-repl_login=${principal}` },
    ];
    for (const headers of smuggled) {
      const list = await subject.client("bob", headers).tool("list_sessions", {});
      assert.equal(list.content.total, 0, JSON.stringify(headers));
      assert.equal((await subject.client(undefined, headers).ask("ping")).status, 401);
    }
    await subject.close();
  });

  test("has what it installed to itself", async () => {
    const backend = createFakeBackend();
    const subject = await makeApp({ tokens: ["alice", "bob"], backend });
    for (const name of ["alice", "bob"]) await subject.client(name).tool("install_package", { package_name: name });
    const [first, second] = backend.installs;
    assert.notEqual(first?.owner, second?.owner);
    assert.match(String(first?.owner), /^[0-9a-f]{40}$/);
    await subject.close();
  });

  test("with a token that may only read changes and runs nothing", async () => {
    const subject = await makeApp({ tokens: ["alice:read"] });
    const alice = subject.client("alice");
    for (const { name, scope } of TOOLS) {
      const { status, headers } = await alice.tool(name, { session_id: "x", ...ARGUMENTS[name] });
      assert.equal(status, scope === "repl:read" ? 200 : 403, name);
      if (status === 403) assert.match(headers.get("www-authenticate") ?? "", /insufficient_scope.*scope="repl:run"/);
    }
    const batch = [
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "create_session", arguments: {} } },
    ];
    assert.equal((await alice.post(batch)).status, 403);
    await subject.close();
  });

  test("is recorded with each block that its token ran", async () => {
    const subject = await makeApp({ tokens: ["alice"] });
    await subject.client("alice").tool("create_session", { session_id: "a" });
    await subject.client("alice").run("a", "1");
    const keys = (await subject.storage.getKeys()).filter((key) => /:b:\d+$/.test(key));
    const [block] = await Promise.all(keys.map((key) => subject.storage.getItem<{ value: { by: string } }>(key)));
    assert.equal(block?.value.by, "alice");
    await subject.close();
  });
});

/** All of an answer but what differs between any two requests. */
function comparable({ status, headers, body }: { status: number; headers: Headers; body: string }) {
  const kept = [...headers].filter(([name]) => !["x-request-id", "date"].includes(name));
  return { status, headers: kept, body };
}
