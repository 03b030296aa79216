import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Environment, prepareEnvironment } from "../../src/backends/subprocess/environment.ts";
import { createInstaller } from "../../src/backends/subprocess/installer.ts";
import { execute, isAlive, testEnvironment, testPython, until } from "./subprocess-setup.ts";

let folder = "";
let environment: Environment;

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "install-")));
  const python = { ...(await testPython()), externallyManaged: true };
  environment = await prepareEnvironment(python, join(folder, "venv"), testEnvironment(), () => undefined);
});
after(() => rm(folder, { recursive: true, force: true }));

const never = new AbortController().signal;

/** An installer whose pip is a program of ours: PYTHONPATH goes before what the interpreter has. */
async function withPip(program: string, limitMs = 30_000) {
  const home = await mkdtemp(join(folder, "pip-"));
  await mkdir(join(home, "pip"));
  await writeFile(join(home, "pip", "__init__.py"), "");
  await writeFile(join(home, "pip", "__main__.py"), program);
  const env = { ...testEnvironment(), PYTHONPATH: home, HOME_OF_TEST: home };
  return { home, installer: createInstaller({ environment: async () => environment, env, limitMs }) };
}

async function install(
  installer: ReturnType<typeof createInstaller>,
  requirements = ["some-package>=1"],
  signal = never,
) {
  const lines: string[] = [];
  const reply = await installer.install(requirements, { signal, onProgress: (line) => lines.push(line) });
  return { reply, lines };
}

describe("installing with pip", () => {
  test("asks nothing: stdin is empty, the requirements come after --", async () => {
    const { installer } = await withPip("import sys, os\nprint(sys.argv[1:], repr(sys.stdin.read()), os.getcwd())");
    const { reply, lines } = await install(installer, ["a>=1", "b"]);
    assert.deepEqual(reply, { installed: [], replaced: [] });
    const flags = "'install', '--no-input', '--disable-pip-version-check', '--progress-bar', 'off', '--no-color'";
    assert.deepEqual(lines, [`[${flags}, '--', 'a>=1', 'b'] '' /`]);
  });

  test("bears output that is no UTF-8, or one endless line", async () => {
    const { installer } = await withPip(
      "import os, sys\nos.write(1, ('\\u2501' * 5000).encode() + b'\\xff\\n')\nos.write(2, b'err \\xff\\n' + b'x' * 3_000_000)",
    );
    const { lines } = await install(installer);
    assert.deepEqual(
      lines.map((line) => [line.length, line.slice(0, 5)]).sort(),
      [
        [1000, "xxxxx"],
        [1000, "━━━━━"],
        [5, "err \ufffd"],
      ].sort(),
    );
  });

  test("tells what is new and what had another version", async () => {
    const [packages] = environment.packagePaths;
    const program = `import os, sys
name, version = sys.argv[-1].split("==")
base = ${JSON.stringify(packages)}
for old in os.listdir(base):
    if old.startswith(name + "-"): os.rmdir(os.path.join(base, old))
os.mkdir(os.path.join(base, f"{name}-{version}.dist-info"))`;
    const { installer } = await withPip(program);
    assert.deepEqual((await install(installer, ["probe_x==1.0"])).reply, { installed: ["probe-x 1.0"], replaced: [] });
    assert.deepEqual((await install(installer, ["probe_x==1.0"])).reply, { installed: [], replaced: [] });
    const again = { installed: ["probe-x 2.0"], replaced: ["probe-x"] };
    assert.deepEqual((await install(installer, ["probe_x==2.0"])).reply, again);
  });

  test("a failure is told by the installer's own error lines", async () => {
    const { installer } = await withPip(
      "import sys\nprint('Collecting x')\nprint('ERROR: No matching distribution found for x', file=sys.stderr)\nprint('bye')\nsys.exit(1)",
    );
    await assert.rejects(install(installer, ["x"]), {
      code: "INSTALL_FAILED",
      message: "Installing x failed: ERROR: No matching distribution found for x",
    });
  });

  test("a failure without error lines is told by the last lines, and one without lines too", async () => {
    const { installer } = await withPip("import sys\nfor n in range(9): print('line', n)\nsys.exit(2)");
    await assert.rejects(install(installer, ["x"]), { message: "Installing x failed: line 6; line 7; line 8" });
    const quiet = await withPip("raise SystemExit(1)");
    await assert.rejects(install(quiet.installer, ["x"]), {
      message: "Installing x failed: the installer said nothing",
    });
  });

  test("takes a limited time, and its children end with it", async () => {
    const { home, installer } = await withPip(STUBBORN, 500);
    await assert.rejects(install(installer, ["x"]), { message: "Installing x failed: not done within 0.5 s" });
    for (const pid of await pidsIn(home)) await until(() => !isAlive(pid), `the end of ${pid}`);
  });

  test("is cancelled with its children", async () => {
    const { home, installer } = await withPip(STUBBORN);
    const controller = new AbortController();
    const installing = install(installer, ["x"], controller.signal);
    await until(async () => (await pidsIn(home)).length === 2, "the start of pip");
    controller.abort();
    await assert.rejects(installing, { code: "CANCELLED" });
    for (const pid of await pidsIn(home)) await until(() => !isAlive(pid), `the end of ${pid}`);
  });

  test("runs one at a time, also after a failure; a cancelled one in the queue is answered at once", async () => {
    const program = `import os, sys, time
mark = os.path.join(os.environ["HOME_OF_TEST"], "running")
os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
print("started", flush=True)
time.sleep(0.3)
os.remove(mark)
sys.exit(sys.argv[-1] == "bad")`;
    const { installer } = await withPip(program);
    const controller = new AbortController();
    const first = install(installer, ["bad"]);
    const second = install(installer, ["waiting"], controller.signal);
    const third = install(installer, ["good"]);
    controller.abort();
    await assert.rejects(second, { code: "CANCELLED" });
    await assert.rejects(first, { code: "INSTALL_FAILED" });
    assert.deepEqual((await third).lines, ["started"]);
  });

  test("closing cancels what runs", async () => {
    const { home, installer } = await withPip(STUBBORN);
    const installing = install(installer, ["x"]);
    await until(async () => (await pidsIn(home)).length === 2, "the start of pip");
    installer.close();
    await assert.rejects(installing, { code: "CANCELLED" });
    await assert.rejects(install(installer, ["y"]), { code: "CANCELLED" });
  });
});

/** Ignores interrupts, and so does its child. */
const STUBBORN = `import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "60"])
with open(os.path.join(os.environ["HOME_OF_TEST"], "pids.part"), "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(file.name, file.name[:-5])
time.sleep(60)`;

async function pidsIn(home: string): Promise<number[]> {
  const text = await readFile(join(home, "pids"), "utf8").catch(() => "");
  return text === "" ? [] : text.split(" ").map(Number);
}

describe("installing without pip", () => {
  test("uses uv where there is one", async () => {
    const uv = join(folder, "uv");
    await writeFile(uv, '#!/bin/sh\necho "$@"\n');
    await chmod(uv, 0o755);
    const bare = { ...environment, hasPip: false, uv };
    const options = { environment: async () => bare, env: testEnvironment(), limitMs: 30_000 };
    const { lines } = await install(createInstaller(options), ["a>=1", "b"]);
    const start = "pip install --no-progress --color never --python";
    assert.deepEqual(lines, [`${start} ${environment.python} -- a>=1 b`]);
  });

  test("puts pip into our environment where there is no uv", async () => {
    const log = join(folder, "log");
    const python = join(folder, "python");
    await writeFile(python, `#!/bin/sh\necho "$@"\necho "$@" >> ${log}\n`);
    await chmod(python, 0o755);
    const bare = { ...environment, python, hasPip: false, uv: undefined };
    const options = { environment: async () => bare, env: testEnvironment(), limitMs: 30_000 };
    const { lines } = await install(createInstaller(options), ["a"]);
    assert.equal(lines[0], "-m ensurepip --default-pip");
    assert.match(lines[1] ?? "", /^-m pip install .* -- a$/);
  });

  test("says so when there is nothing to install into, or with", async () => {
    const none = { ...environment, readOnly: "the folder is read-only" };
    const refusing = createInstaller({ environment: async () => none, env: {}, limitMs: 1000 });
    await assert.rejects(install(refusing, ["a"]), { message: "Installing a failed: the folder is read-only" });
    const missing = { ...environment, python: "/no/such/python" };
    const failing = createInstaller({ environment: async () => missing, env: {}, limitMs: 1000 });
    await assert.rejects(install(failing, ["a"]), { code: "INSTALL_FAILED", message: /could not be started/ });
  });
});

test("the real pip works in the environment", async (context) => {
  if (!environment.hasPip) return context.skip("this Python has no pip");
  await execute(environment.python, ["-m", "pip", "--version"]);
});
