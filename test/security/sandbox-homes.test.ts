import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { failure, makeSandboxedBackend, type SandboxedBackend, sandboxRefusal, start, tell } from "./sandbox-setup.ts";

const skip = sandboxRefusal() ?? false;

/**
 * What a session sees of its home, caches of libraries aside, and of its temporary folder, where only the way to the
 * interpreter may be.
 */
const SEEN = `
import os, sys
def names(folder, *others): return sorted(set(os.listdir(folder)).difference(others))
names('/home/repl', '.cache'), names('/tmp', *'/'.join(sys.path).split('/'))`;
const LEAVE = "open('/home/repl/kept', 'w').write('home'); open('/tmp/kept', 'w').write('tmp'); None";

describe("a confined session's folders", { skip }, () => {
  let subject: SandboxedBackend;
  before(async () => {
    subject = await makeSandboxedBackend();
  });
  after(() => subject.cleanUp());

  test("are kept over kernels, and seen by no other session, of the same owner or of another", async () => {
    const first = await start(subject, "alice", "one");
    await tell(first, LEAVE);
    const others = [await start(subject, "alice", "two"), await start(subject, "bob", "one")];
    for (const other of others) assert.equal(await tell(other, SEEN), "([], [])");
    await first.shutdown();
    const second = await start(subject, "alice", "one");
    assert.equal(await tell(second, SEEN), "(['kept'], ['kept'])");
    assert.equal(await tell(second, "os.getcwd()"), "'/home/repl'");
  });

  test("are what its file tools see", async () => {
    const kernel = await start(subject, "alice", "files");
    assert.equal(
      (await kernel.files.write("sub/made.txt", new TextEncoder().encode("x"))).path,
      "/home/repl/sub/made.txt",
    );
    assert.equal(await tell(kernel, "open('/home/repl/sub/made.txt').read()"), "'x'");
    await assert.rejects(kernel.files.read("/root/.bashrc", 1000), { code: "FILE_NOT_FOUND" });
    await assert.rejects(kernel.files.write("/usr/x", new Uint8Array()), { code: "FILE_NOT_WRITABLE" });
    const passwd = await kernel.files.read("/etc/passwd", 1000);
    assert.match(new TextDecoder().decode(passwd.data), /^repl:x:\d+:\d+::\/home\/repl:\/bin\/sh\n$/);
  });

  test("are gone with the session, however code has hidden them", async () => {
    const kernel = await start(subject, "carol", "gone");
    const code = `
import os
os.makedirs("shut/in"); open("shut/in/file", "w").close(); os.chmod("shut/in", 0); os.chmod("shut", 0)
os.symlink("/etc", "link")
for depth in range(1500):
    os.mkdir("deep-" * 10); os.chdir("deep-" * 10)
os.chdir("/")`;
    await tell(kernel, code);
    await kernel.shutdown();
    await subject.backend.forgetSession?.("carol", "gone");
    assert.deepEqual(await readdir(join(subject.state, "carol", "s")), []);
    assert.ok((await stat("/etc/hostname").catch(() => stat("/etc/passwd"))).isFile());
    const again = await start(subject, "carol", "gone");
    assert.equal(await tell(again, SEEN), "([], [])");
  });

  test("of sessions that are no more are swept, others stay", async () => {
    for (const id of ["stays", "goes"]) await (await start(subject, "Dave", id)).shutdown();
    const removed = await subject.sandbox.sweep(async (owner, id) => owner !== "Dave" || id === "stays");
    assert.equal(removed, 1);
    assert.deepEqual(await readdir(join(subject.state, "_44ave", "s")), ["stays"]);
  });

  test("cannot be swapped for the machine's by a link", async () => {
    const kernel = await start(subject, "eve", "link");
    await tell(kernel, "import os; os.symlink('/root', 'to-root'); os.symlink('/home/repl', 'to-home'); None");
    await kernel.shutdown();
    await assert.rejects(start(subject, "eve", "link", "to-root/.ssh"), { code: "INVALID_CWD" });
    const again = await start(subject, "eve", "link", "to-home");
    assert.equal(await tell(again, "import os; os.path.samefile('.', '/home/repl')"), "True");
  });
});

describe("where a confined session may start", { skip }, () => {
  let subject: SandboxedBackend;
  let outside: string;
  let root: string;
  before(async () => {
    outside = await mkdtemp(join(tmpdir(), "sandbox-outside-"));
    root = join(outside, "root");
    await mkdir(join(root, "project"), { recursive: true });
    for (const folder of [root, join(root, "project")]) await chmod(folder, 0o777);
    await writeFile(join(outside, "secret"), "sesame");
    await symlink(outside, join(root, "way-out"));
    await mkdir(join(root, "hidden"));
    for (const path of ["hidden/secret", "secret"]) await writeFile(join(root, path), "sesame");
    subject = await makeSandboxedBackend({ root, hidden: [join(root, "hidden"), join(root, "secret")] });
  });
  after(async () => {
    await subject.cleanUp();
    await rm(outside, { recursive: true, force: true });
  });

  test("in the allowed folder, whose files it then shares with the machine", async () => {
    const kernel = await start(subject, "alice", "project", join(root, "project"));
    await tell(kernel, "open('made', 'w').write('by code')");
    assert.equal(await readFile(join(root, "project", "made"), "utf8"), "by code");
  });

  test("not outside of it, neither through a link nor by going up", async () => {
    for (const cwd of [outside, join(root, ".."), `${root}/project/../../secret`]) {
      await assert.rejects(start(subject, "alice", "outside", cwd), { code: "INVALID_CWD" }, cwd);
    }
    const kernel = await start(subject, "alice", "inside", join(root, "way-out"));
    assert.equal(await tell(kernel, "import os; os.listdir('.')"), "['root']");
    const secret = JSON.stringify(join(root, "way-out", "secret"));
    assert.equal(await failure(kernel, `open(${secret}).read()`), "FileNotFoundError");
    await assert.rejects(kernel.files.read(join(root, "way-out", "secret"), 100), { code: "FILE_NOT_FOUND" });
  });

  test("in it without the server's own folders, should they lie there", async () => {
    const kernel = await start(subject, "alice", "covered", root);
    assert.equal(await tell(kernel, "import os; os.listdir('hidden'), os.path.exists('hidden/secret')"), "([], False)");
    assert.equal(await failure(kernel, "open('secret').read()"), "PermissionError");
    await assert.rejects(kernel.files.read("hidden/secret", 100), { code: "FILE_NOT_FOUND" });
  });

  test("elsewhere only to read, and then without the allowed folder", async () => {
    const kernel = await start(subject, "alice", "system", "/usr/lib");
    assert.equal(await failure(kernel, "open('x', 'w')"), "OSError");
    assert.equal(await tell(kernel, `import os; os.path.exists(${JSON.stringify(join(root, "project"))})`), "False");
  });

  test("a folder that does not exist, or is none, is named with what to give", async () => {
    const message =
      /cwd "\/no\/such" does not exist in the sandbox; give a folder that exists there, or none for the session's home$/;
    await assert.rejects(start(subject, "alice", "none", "/no/such"), { code: "INVALID_CWD", message });
    await assert.rejects(start(subject, "alice", "none", "/etc/passwd"), {
      code: "INVALID_CWD",
      message: /is not a folder/,
    });
    await assert.rejects(start(subject, "alice", "none", "a\0b"), { code: "INVALID_CWD", message: /NUL/ });
  });
});
