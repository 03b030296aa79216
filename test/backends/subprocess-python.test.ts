import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { prepareEnvironment } from "../../src/backends/subprocess/environment.ts";
import { findPython, type PythonInfo } from "../../src/backends/subprocess/find-python.ts";
import { execute, testEnvironment, testPython } from "./subprocess-setup.ts";

let folder = "";
let real: PythonInfo;

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "find-python-")));
  real = await testPython();
});
after(() => rm(folder, { recursive: true, force: true }));

/** Writes an executable script and returns the folder that it is in. */
async function program(place: string, name: string, script: string): Promise<string> {
  const where = join(folder, place);
  await mkdir(where, { recursive: true });
  await writeFile(join(where, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(where, name), 0o755);
  return where;
}

describe("finding Python", () => {
  test("tells the interpreter itself, its version and what it imports from", () => {
    assert.match(real.executable, /^\/.*python/);
    assert.match(real.version, /^3\.\d+\.\d+$/);
    assert.ok(real.importPaths.length > 1);
    assert.ok(real.packagePaths.every((path) => path.endsWith("-packages")));
  });

  test("a launcher on PATH is asked once for what it launches", async () => {
    const PATH = await program("launcher", "python3", `echo noise from a hook\nexec "${real.executable}" "$@"`);
    const found = await findPython({ PATH });
    assert.equal(found.executable, real.executable);
    assert.equal(found.uv, undefined);
  });

  test("python is taken where there is no python3, and uv is looked for", async () => {
    const PATH = await program("plain", "python", `exec "${real.executable}" "$@"`);
    await program("plain", "uv", "exit 0");
    assert.equal((await findPython({ PATH })).uv, join(PATH, "uv"));
  });

  test("REPL_PYTHON goes before PATH, as a path or a name", async () => {
    const PATH = await program("broken", "python3", "exit 1");
    await program("broken", "python-x", `exec "${real.executable}" "$@"`);
    for (const REPL_PYTHON of [join(PATH, "python-x"), "python-x"]) {
      assert.equal((await findPython({ PATH, REPL_PYTHON })).executable, real.executable);
    }
  });

  test("modules in the current folder do not stand in for those it needs", async () => {
    const cwd = process.cwd();
    await writeFile(join(folder, "json.py"), "raise SystemExit('wrong json')");
    process.chdir(folder);
    try {
      assert.equal((await findPython({ ...process.env, REPL_PYTHON: real.executable })).version, real.version);
    } finally {
      process.chdir(cwd);
    }
  });

  const advice = /; install Python 3\.9 or newer, or set REPL_PYTHON to the path of one$/;
  test("none on PATH: the message says what to install or set", async () => {
    await assert.rejects(findPython({ PATH: "/nowhere" }), /^Error: No python3 or python was found on PATH; install/);
    await assert.rejects(findPython({}), advice);
  });

  test("too old or not Python: the message names each", async () => {
    const PATH = await program("old", "python3", `echo 'edge-repl-probe:{"version":"3.8.2","executable":"/x"}'`);
    await program("old", "python", "echo I am no Python");
    const message = new RegExp(
      `^Error: ${PATH}/python3 is Python 3\\.8\\.2 and ${PATH}/python does not run as Python; `,
    );
    await assert.rejects(findPython({ PATH }), message);
    await assert.rejects(findPython({ PATH }), advice);
  });

  test("REPL_PYTHON that is nothing: the message names it", async () => {
    for (const REPL_PYTHON of ["/no/such/python", folder, "no-such-python"]) {
      await assert.rejects(
        findPython({ PATH: "/nowhere", REPL_PYTHON }),
        new RegExp(`REPL_PYTHON is ${REPL_PYTHON}, which`),
      );
    }
  });
});

describe("the environment that kernels run in", () => {
  const quiet = (): void => undefined;

  test("is the interpreter itself where packages may be installed", async () => {
    const python = { ...real, externallyManaged: false, hasPip: true };
    const environment = await prepareEnvironment(python, join(folder, "unused"), testEnvironment(), quiet);
    assert.equal(environment.python, real.executable);
    await assert.rejects(realpath(join(folder, "unused")), { code: "ENOENT" });
  });

  test("is a virtual environment of ours where not: made once, it sees the interpreter's packages", async () => {
    const python = { ...real, externallyManaged: true };
    const venvDir = join(folder, "data", "venv");
    const [first, second] = await Promise.all(
      [1, 2].map(() => prepareEnvironment(python, venvDir, testEnvironment(), quiet)),
    );
    assert.deepEqual(first, second);
    assert.ok(first);
    assert.ok(first.python.startsWith(venvDir));
    const code = "import sys, json; print(json.dumps([sys.prefix, sys.path]))";
    const [prefix, paths] = JSON.parse((await execute(first.python, ["-c", code])).stdout);
    assert.ok(prefix.startsWith(venvDir));
    const [own = ""] = first.packagePaths;
    assert.ok(paths.includes(own));
    for (const path of real.packagePaths) assert.ok(paths.indexOf(path) > paths.indexOf(own), `${path} comes after`);
  });

  test("of a virtual environment that may not be changed sees that one's packages", async () => {
    const parent = join(folder, "parent");
    await execute(real.executable, ["-m", "venv", "--without-pip", parent]);
    const python = await findPython({ REPL_PYTHON: join(parent, "bin", "python") });
    assert.equal(python.virtual, true);
    await writeFile(join(python.packagePaths[0] ?? "", "only_in_parent.py"), "");
    const managed = { ...python, externallyManaged: true };
    const environment = await prepareEnvironment(managed, join(folder, "child"), testEnvironment(), quiet);
    await execute(environment.python, ["-c", "import only_in_parent"]);
  });

  test("stays the interpreter itself when none can be made, and says so", async () => {
    const log: string[] = [];
    const venvDir = join(folder, "a-file");
    await writeFile(venvDir, "");
    const python = { ...real, externallyManaged: true };
    const environment = await prepareEnvironment(python, venvDir, testEnvironment(), (line) => log.push(line));
    assert.equal(environment.python, real.executable);
    assert.match(environment.readOnly ?? "", /no virtual environment could be made/);
    assert.match(log.join(), /No virtual environment for packages could be made/);
  });

  test("is completed when it was left half made", async () => {
    const venvDir = join(folder, "again");
    const python = { ...real, externallyManaged: true };
    const first = await prepareEnvironment(python, venvDir, testEnvironment(), quiet);
    await rm(dirname(first.python), { recursive: true });
    const second = await prepareEnvironment(python, venvDir, testEnvironment(), quiet);
    assert.equal(second.python, first.python);
    await execute(second.python, ["-c", "pass"]);
  });
});
