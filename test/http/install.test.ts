import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runToEnd } from "../helpers/process.ts";
import { type ServerProcess, startServer } from "../helpers/server.ts";
import { connect, createSession, temporaryFolder } from "./processes.ts";

const LIMIT_MS = 60_000;

/** Writes the wheel of a package of one module, as zip files are written by Python itself. */
const MAKE_WHEEL = `
import sys, zipfile
folder, name, version = sys.argv[1:]
info = f"{name}-{version}.dist-info"
with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as wheel:
    wheel.writestr(f"{name}.py", f"version = {version!r}\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", f"{name}.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n")
`;

async function must(command: readonly [string, ...string[]]): Promise<void> {
  const { code, stderr } = await runToEnd(command, { limitMs: LIMIT_MS });
  assert.equal(code, 0, stderr);
}

/** Packages come from a folder, into a virtual environment of the test: no index is asked, nobody's Python is changed. */
describe("install_package", { timeout: LIMIT_MS }, () => {
  let server: ServerProcess;
  const made = temporaryFolder({ after });

  before(async () => {
    const folder = await made;
    const python = join(folder, "venv/bin/python");
    const wheels = join(folder, "wheels");
    await mkdir(wheels);
    await must(["python3", "-m", "venv", join(folder, "venv")]);
    for (const version of ["1.0.0", "2.0.0"])
      await must([python, "-c", MAKE_WHEEL, wheels, "black_box_probe", version]);
    server = await startServer({
      REPL_PYTHON: python,
      PIP_NO_INDEX: "1",
      PIP_FIND_LINKS: wheels,
      UV_NO_INDEX: "1",
      UV_FIND_LINKS: wheels,
      XDG_DATA_HOME: join(folder, "data"),
    });
  });
  after(() => server?.stop());

  test("installs for all sessions, running ones without a reset, and tells what it does", async (context) => {
    const client = await connect(context, { url: server.url });
    const running = await createSession(client, "running");
    assert.match((await running.run("import black_box_probe")).text, /ModuleNotFoundError/);

    const progress: string[] = [];
    const installed = await client.call(
      "install_package",
      { package_name: "black-box-probe == 1.0.0" },
      { onProgress: (message) => progress.push(message) },
    );
    assert.equal(installed.isError, false, installed.text);
    assert.deepEqual(installed.structured.replaced, []);
    assert.match(installed.text, /black.box.probe/i);
    assert.ok(
      progress.some((line) => /black.box.probe/i.test(line)),
      JSON.stringify(progress),
    );

    const code = "import black_box_probe\nblack_box_probe.version";
    assert.equal((await running.run(code)).structured.result, "'1.0.0'");
    const later = await createSession(client, "later");
    assert.equal((await later.run(code)).structured.result, "'1.0.0'");
    assert.deepEqual((await running.call("get_history")).structured.total, 2, "An installation is no block");
  });

  test("says so when a module that is imported was replaced", async (context) => {
    const client = await connect(context, { url: server.url });
    const reply = await client.call("install_package", { package_name: "black_box_probe>=2" });
    assert.equal(reply.isError, false, reply.text);
    assert.deepEqual(
      (reply.structured.replaced as string[]).map((name) => name.replaceAll("-", "_")),
      ["black_box_probe"],
    );
    assert.match(reply.text, /reset_run_context/);
  });

  test("says so when there is nothing to do", async (context) => {
    const client = await connect(context, { url: server.url });
    const reply = await client.call("install_package", { package_name: "black_box_probe" });
    assert.equal(reply.isError, false, reply.text);
    assert.deepEqual(reply.structured.installed, []);
  });

  test("fails with the installer's own words when there is no such package", async (context) => {
    const client = await connect(context, { url: server.url });
    const reply = await client.call("install_package", { package_name: "no-such-package-black-box" });
    assert.equal(reply.structured.code, "INSTALL_FAILED", reply.text);
    assert.match(reply.text, /no-such-package-black-box/);
  });
});
