import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { failure, makeSandboxedBackend, type SandboxedBackend, sandboxRefusal, start, tell } from "./sandbox-setup.ts";

const skip = sandboxRefusal() ?? false;

/** Makes wheels without a build tool: each writes down what it could see when it was imported. */
const MAKE_WHEELS = `
import sys, zipfile
def wheel(name, version, files):
    dist = "%s-%s" % (name, version)
    with zipfile.ZipFile("%s/%s-py3-none-any.whl" % (sys.argv[1], dist), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(dist + ".dist-info/METADATA", "Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n" % (name, version))
        archive.writestr(dist + ".dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(dist + ".dist-info/RECORD", "")
for version in ("1.0", "2.0"):
    wheel("boxed_probe", version, {"boxed_probe.py": "VERSION = '%s'" % version})
# Runs at each start of an interpreter that sees it; only the installer can write beside the packages.
hook = "import os, socket, sys; open((sys.prefix if os.access(sys.prefix, os.W_OK) else '/tmp') + '/seen', 'a')"
hook += ".write(repr((sorted(os.environ), [n for _, n in socket.if_nameindex()])) + chr(10))"
wheel("boxed_hook", "1.0", {"boxed_hook.pth": hook + "\\n"})
`;

describe("packages of confined sessions", { skip }, () => {
  let subject: SandboxedBackend;
  let wheels: string;
  before(async () => {
    wheels = await mkdtemp(join(tmpdir(), "sandbox-wheels-"));
    await chmod(wheels, 0o755);
    execFileSync("python3", ["-c", MAKE_WHEELS, wheels]);
    const index = {
      PIP_NO_INDEX: "1",
      PIP_FIND_LINKS: wheels,
      PIP_INDEX_URL: "https://user:sesame@index.invalid/simple",
    };
    subject = await makeSandboxedBackend({ env: { ...process.env, ...index } });
  });
  after(async () => {
    await subject.cleanUp();
    await rm(wheels, { recursive: true, force: true });
  });

  const install = (owner: string, ...requirements: string[]) => {
    const call = {
      owner,
      signal: new AbortController().signal,
      onProgress: (line: string) => void progress.push(line),
    };
    return subject.backend.install?.(requirements, call) ?? assert.fail("There is no installer");
  };
  const progress: string[] = [];

  test("import at once in all sessions of the owner, and in no other's", async () => {
    const [running, other] = [await start(subject, "alice", "running"), await start(subject, "bob", "running")];
    const import_ = "import boxed_probe; boxed_probe.VERSION";
    assert.equal(await failure(running, import_), "ModuleNotFoundError");
    assert.deepEqual(await install("alice", "boxed-probe==1.0"), { installed: ["boxed-probe 1.0"], replaced: [] });
    assert.ok(progress.some((line) => line.includes("Successfully installed boxed-probe-1.0")));
    assert.equal(await tell(running, import_), "'1.0'");
    assert.equal(await tell(await start(subject, "alice", "later"), import_), "'1.0'");
    assert.equal(await failure(other, import_), "ModuleNotFoundError");
  });

  test("are replaced by another version, which is told", async () => {
    const reply = await install("alice", "boxed-probe==2.0");
    assert.deepEqual(reply, { installed: ["boxed-probe 2.0"], replaced: ["boxed-probe"] });
    const kernel = await start(subject, "alice", "second");
    assert.equal(await tell(kernel, "import boxed_probe; boxed_probe.VERSION"), "'2.0'");
  });

  test("cannot be changed by code", async () => {
    const kernel = await start(subject, "alice", "vandal");
    await tell(kernel, "import boxed_probe");
    assert.equal(await failure(kernel, "open(boxed_probe.__file__, 'w')"), "OSError");
    assert.equal(await failure(kernel, "import os; os.chmod(boxed_probe.__file__, 0o777)"), "OSError");
  });

  test("run their code without network and without the index's password, also while others are installed", async () => {
    await install("mallory", "boxed-hook");
    await install("mallory", "boxed-probe");
    const kernel = await start(subject, "mallory", "hooked");
    const seen = await tell(kernel, "open('/tmp/seen').read()");
    const packages = join(subject.state, "mallory", "packages");
    const [environment = ""] = await readdir(packages);
    const installing = await readFile(join(packages, environment, "seen"), "utf8");
    for (const text of [seen, installing]) {
      assert.match(text, /\['lo'\]/);
      assert.doesNotMatch(text, /'lo', |, 'lo'|PIP_INDEX_URL/);
    }
  });

  test("come as wheels only: what would be built from sources is refused", async () => {
    for (const requirement of [
      "x @ git+https://host.invalid/x",
      "x @ https://host.invalid/x.tar.gz",
      "x @ file:///tmp/x.whl",
    ]) {
      await assert.rejects(async () => install("alice", requirement), {
        code: "INVALID_REQUIREMENT",
        message: /is no wheel/,
      });
    }
  });

  test("that are not to be had say so, and leave no folder behind", async () => {
    await assert.rejects(async () => install("alice", "boxed-nothing"), {
      code: "INSTALL_FAILED",
      message: /boxed-nothing/,
    });
    const left = (await readdir(join(subject.state, "alice"))).filter((name) => name.startsWith("wheels-"));
    assert.deepEqual(left, []);
  });
});
