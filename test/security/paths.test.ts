import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createSubprocessBackend } from "../../src/backends/subprocess/backend.ts";
import { findPython } from "../../src/backends/subprocess/find-python.ts";
import { testEnvironment, WORKER } from "../backends/subprocess-setup.ts";
import { makeApp, type TestApp } from "./app-setup.ts";
import { createFakeBackend } from "./fake-backend.ts";
import type { HttpClient } from "./http-client.ts";

describe("with REPL_ROOT set, a path leads nowhere else", () => {
  let folder: string;
  let root: string;
  let subject: TestApp;
  let client: HttpClient;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "paths-"));
    root = join(folder, "root");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(folder, "root-beside"));
    for (const path of ["secret.py", "root-beside/secret.py"]) await writeFile(join(folder, path), "print('sesame')");
    await writeFile(join(root, "inside.py"), "print('well')");
    await symlink(folder, join(root, "link"));
    await symlink(join(folder, "secret.py"), join(root, "secret-link.py"));
    await symlink("link", join(root, "link-to-link"));
    await mkdir(join(root, "sub", "deep"));
    await symlink("sub/deep", join(root, "link-inside"));
    const backend = createSubprocessBackend({
      python: await findPython(process.env),
      workerPath: WORKER,
      env: testEnvironment(),
      venvDir: join(folder, "venv"),
      root,
      log: () => undefined,
    });
    subject = await makeApp({ backend, settings: { REPL_RATE_PER_MINUTE: "0" } });
    client = subject.client();
    const made = await client.tool("create_session", { session_id: "a", cwd: root });
    assert.equal(made.isError, false, made.text);
    await client.run("a", "1");
  });
  after(async () => {
    await subject.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Ways out, as an agent could write them; `secret.py` lies beside the root. */
  const waysOut = (): string[] => [
    join(folder, "secret.py"),
    "../secret.py",
    "sub/../../secret.py",
    "./sub/./.././../secret.py",
    `/${join(folder, "secret.py")}`,
    join(root, "../secret.py"),
    join(root, "..", "root-beside", "secret.py"),
    "../root-beside/secret.py",
    "link/secret.py",
    "link-to-link/secret.py",
    "secret-link.py",
    // Read from left to right this stays inside; with ".." taken away first, it is the link above.
    "link-inside/../secret-link.py",
    "/proc/self/cwd/../secret.py",
    "/proc/self/root/etc/passwd",
    "/etc/passwd",
    "~/.bashrc",
    "file:///etc/passwd",
    "..\\secret.py",
    "%2e%2e/secret.py",
    "sub/\u0000/../../secret.py",
  ];
  const REFUSED = /PATH_NOT_ALLOWED|FILE_NOT_FOUND|FILE_NOT_WRITABLE|FILE_UNREADABLE|INVALID_ARGUMENT/;

  for (const [tool, args] of [
    ["read_file", {}],
    ["run_file", {}],
    ["list_files", {}],
  ] as const) {
    test(`${tool} refuses every way out`, async () => {
      for (const path of waysOut()) {
        const reply = await client.tool(tool, { session_id: "a", path, ...args });
        assert.ok(reply.isError, `${path}: ${reply.text}`);
        assert.match(String(reply.content.code), REFUSED, path);
        assert.doesNotMatch(reply.text, /sesame|root:x:/, path);
      }
    });
  }

  for (const [tool, args] of [
    ["write_file", { content: "changed" }],
    ["export_history", {}],
    ["save_script", {}],
  ] as const) {
    test(`${tool} changes nothing outside`, async () => {
      for (const path of waysOut()) {
        const reply = await client.tool(tool, { session_id: "a", path, ...args });
        if (!reply.isError) assert.ok(String(reply.content.path).startsWith(`${root}/`), `${path}: ${reply.text}`);
        else assert.match(String(reply.content.code), REFUSED, path);
      }
      for (const path of ["secret.py", "root-beside/secret.py"]) {
        assert.equal(await readFile(join(folder, path), "utf8"), "print('sesame')");
      }
      assert.match(await readFile("/etc/passwd", "utf8"), /^root:/m);
    });
  }

  test("resources name files by the same rule", async () => {
    const escapes = [...waysOut(), "%2e%2e%2fsecret.py", "..%2Fsecret.py", "%00", "sub/%2e%2e/%2e%2e/secret.py"];
    for (const path of escapes) {
      const uris = [`repl://sessions/a/files/${path}`, `repl://sessions/a/files/${encodeURIComponent(path)}`];
      for (const uri of uris) {
        const { body } = await client.ask("resources/read", { uri });
        assert.ok(!body.includes(Buffer.from("print('sesame')").toString("base64")), uri);
        assert.ok(!body.includes(Buffer.from("root:x:0:0").toString("base64").slice(0, 12)), uri);
      }
    }
    for (const uri of [
      "repl://sessions/../a/history.txt",
      "repl://sessions/a/../../etc/passwd",
      "file:///etc/passwd",
      "repl://sessions/%61/script.py",
    ]) {
      const { message } = await client.ask("resources/read", { uri });
      assert.ok(message.error, uri);
    }
  });

  test("sessions cannot start outside", async () => {
    for (const cwd of [folder, "/", "..", join(root, "link"), `${root}/../root-beside`, "~"]) {
      const reply = await client.tool("create_session", { cwd });
      assert.equal(reply.content.code, "INVALID_CWD", cwd);
    }
    assert.equal((await client.tool("list_sessions", {})).content.total, 1);
  });

  test("what lies inside works", async () => {
    assert.match((await client.tool("run_file", { session_id: "a", path: "inside.py" })).text, /well/);
    assert.equal(
      (await client.tool("write_file", { session_id: "a", path: "sub/new/x.txt", content: "x" })).isError,
      false,
    );
    assert.equal((await client.tool("export_history", { session_id: "a", path: join(root, "h.md") })).isError, false);
    const { body } = await client.ask("resources/read", { uri: "repl://sessions/a/files/inside.py" });
    assert.ok(body.includes(Buffer.from("print('well')").toString("base64")));
  });
});

describe("install_package", () => {
  const REFUSED = [
    "--index-url=https://evil.example/simple",
    "-r /etc/passwd",
    "-e .",
    "numpy --target=/tmp",
    "git+ssh://git@evil.example/x",
    "git+https://evil.example/x",
    "x @ file:///etc/passwd",
    "x @ https://evil.example/x.whl",
    "https://evil.example/x.whl",
    "./x.whl",
    "/tmp/x.tar.gz",
    "..",
    "~/x",
    "x; touch /tmp/sesame",
    "x && touch /tmp/sesame",
    "$(touch /tmp/sesame)",
    "`touch /tmp/sesame`",
    "x | sh",
    "x > /tmp/sesame",
    "x\u0000y",
    'x; python_version < "3" or __import__("os").system("touch /tmp/sesame")',
    "",
    " ",
    "x".repeat(20_000),
    Array.from({ length: 200 }, (_, n) => `p${n}`).join(" "),
  ];

  test("refuses all that is no requirement, before anything is started", async () => {
    const backend = createFakeBackend();
    const subject = await makeApp({ backend });
    for (const text of REFUSED) {
      const reply = await subject.client().tool("install_package", { package_name: text });
      assert.equal(reply.content.code, "INVALID_REQUIREMENT", `${text.slice(0, 60)}: ${reply.text}`);
    }
    assert.deepEqual(backend.installs, []);
    await subject.close();
  });

  test("takes URLs where a setting allows them, still no options", async () => {
    const backend = createFakeBackend();
    const subject = await makeApp({ backend, settings: { REPL_ALLOW_URLS: "1" } });
    await subject.client().tool("install_package", { package_name: "x @ https://host.example/x.whl" });
    assert.deepEqual(
      backend.installs.map(({ requirements }) => requirements),
      [["x @ https://host.example/x.whl"]],
    );
    for (const text of ["--index-url=https://evil.example", "x @ https://host.example/@--upload-pack=x", "-r x"]) {
      const reply = await subject.client().tool("install_package", { package_name: text });
      assert.equal(reply.content.code, "INVALID_REQUIREMENT", text);
    }
    await subject.close();
  });
});
