import assert from "node:assert/strict";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { after, before, describe, test } from "node:test";
import type { Kernel } from "../../src/core/backend.ts";
import { ROOT } from "../helpers/process.ts";
import { failure, makeSandboxedBackend, type SandboxedBackend, sandboxRefusal, start, tell } from "./sandbox-setup.ts";

const skip = sandboxRefusal() ?? false;

async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  return { server, port: address.port };
}

describe("what confined code reaches", { skip }, () => {
  let subject: SandboxedBackend;
  let kernel: Kernel;
  before(async () => {
    subject = await makeSandboxedBackend({ env: { ...process.env, SERVER_SECRET: "sesame", LANG: "C.UTF-8" } });
    kernel = await start(subject, "alice", "walls");
  });
  after(() => subject.cleanUp());

  test("no file of the machine but the system, the interpreter and the worker", async () => {
    const home = process.env.HOME ?? "/root";
    const secrets = [`${subject.state}/seccomp`, `${ROOT}/package.json`, `${home}/.bashrc`, "/etc/shadow", "/var/log"];
    for (const path of secrets) {
      assert.equal(await tell(kernel, `import os; os.path.exists(${JSON.stringify(path)})`), "False", path);
    }
    const names = await tell(kernel, "open('/etc/passwd').read().count('\\n'), sorted(os.listdir('/home'))");
    assert.equal(names, "(1, ['repl'])");
  });

  test("nothing to write but its home and its temporary folder", async () => {
    const code = `
import os
def writable(folder):
    try:
        path = os.path.join(folder, "x")
        open(path, "w").close()
        os.unlink(path)
        return True
    except OSError:
        return False
folders = ["/", "/usr", "/usr/bin", "/etc", "/dev", "/opt", "/opt/edge-python-repl", "/opt/python-packages", "/home", "/proc"]
[folder for folder in [*folders, os.path.dirname(os.__file__), "/home/repl", "/tmp", "/dev/shm"] if writable(folder)]`;
    assert.equal(await tell(kernel, code), "['/home/repl', '/tmp', '/dev/shm']");
    // The same by another guard: whoever the files belong to, they are mounted read-only.
    const mounts = "sorted(p for _, p, _, o, *_ in map(str.split, open('/proc/mounts')) if 'rw' in o.split(','))";
    const writable = JSON.parse(await tell(kernel, `import json; print(json.dumps(${mounts}))`));
    const kept = writable.filter(
      (path: string) => !/^\/dev\/(null|zero|full|random|urandom|tty|pts|console|shm)$/.test(path),
    );
    assert.deepEqual(kept, ["/home/repl", "/proc", "/tmp"]);
  });

  test("no setting of the kernel, also not as the machine's root", async () => {
    const paths = ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger"];
    for (const path of paths) {
      const code = `import os; os.close(os.open(${JSON.stringify(path)}, os.O_WRONLY))`;
      assert.match(await failure(kernel, code), /PermissionError|OSError|FileNotFoundError/, path);
    }
  });

  test("no process but its own", async () => {
    assert.equal(await failure(kernel, `import os; os.kill(${process.pid}, 0)`), "ProcessLookupError");
    // The monitor, the kernel and what the kernel starts.
    const seen = "sorted(int(name) for name in os.listdir('/proc') if name.isdigit())[:2], os.getppid()";
    assert.match(await tell(kernel, seen), /^\(\[1, \d+\], 1\)$/);
  });

  test("nothing of the server's environment but its language", async () => {
    const code =
      "sorted(os.environ), b'sesame' in b''.join(open(f'/proc/{n}/environ', 'rb').read() for n in (1, 'self'))";
    const [names, leaked] = JSON.parse(await tell(kernel, `import json; print(json.dumps([${code}]))`));
    assert.equal(leaked, false);
    assert.deepEqual(
      names.filter((name: string) => !/^(LANG|LC_\w+|TZ|MPLBACKEND)$/.test(name)),
      ["HOME", "LOGNAME", "PATH", "PWD", "SHELL", "TMPDIR", "USER"],
    );
  });

  test("no capability, and no program that gives one", async () => {
    const status =
      "{line.split(':')[0]: line.split()[1] for line in open('/proc/self/status') if 'Cap' in line or 'NoNew' in line}";
    const caps = await tell(
      kernel,
      `s = ${status}; {int(v, 16) for k, v in s.items() if k.startswith('Cap')}, s['NoNewPrivs']`,
    );
    assert.equal(caps, "({0}, '1')");
    assert.notEqual(await tell(kernel, "os.getuid()"), "0");
    assert.match(await failure(kernel, "os.setuid(0)"), /^(PermissionError|OSError)$/);
  });

  test("no new namespace, no mount, no corner of the kernel that Python does not need", async () => {
    const code = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
calls = {
    "unshare": lambda: libc.unshare(0x10000000),
    "mount": lambda: libc.mount(b"x", b"/tmp", b"tmpfs", 0, None),
    "chroot": lambda: libc.chroot(b"/tmp"),
    "clone into a namespace": lambda: libc.syscall(56 if os.uname().machine == "x86_64" else 220, 0x10000011, 0, 0, 0, 0),
    "bpf": lambda: libc.syscall(321 if os.uname().machine == "x86_64" else 280, 0, 0, 0),
    "io_uring": lambda: libc.syscall(425, 1, 0),
    "keyctl": lambda: libc.syscall(250 if os.uname().machine == "x86_64" else 219, 0, -3, 0),
}
[(name, ctypes.get_errno()) for name, call in calls.items() if call() != -1 or ctypes.get_errno() != 1]`;
    assert.equal(await tell(kernel, code), "[]");
  });

  test("no network, not even this machine's", async () => {
    const { server, port } = await listen();
    const connect = `import socket; socket.create_connection(("127.0.0.1", ${port}), 5).recv(9)`;
    assert.match(await failure(kernel, connect), /ConnectionRefusedError|OSError/);
    assert.equal(await tell(kernel, "[name for _, name in socket.if_nameindex()]"), "['lo']");
    // Sockets to the machine that runs this one as a virtual machine, and to the kernel's own ciphers.
    for (const family of [40, 38]) assert.equal(await failure(kernel, `socket.socket(${family}, 1)`), "OSError");
    assert.equal(await tell(kernel, "a, b = socket.socketpair(); a.send(b'x'); b.recv(1)"), "b'x'");
    server.close();
  });

  test("an unreadable filter, a missing one: neither starts", async () => {
    await writeFile(`${subject.state}/seccomp`, "no filter");
    await assert.rejects(start(subject, "alice", "broken"), { code: "BACKEND_UNAVAILABLE" });
    await rm(`${subject.state}/seccomp`);
    await assert.rejects(start(subject, "alice", "broken"), { code: "BACKEND_UNAVAILABLE" });
  });
});

describe("what confined code may be given", { skip }, () => {
  test("the network, by a setting", async () => {
    const subject = await makeSandboxedBackend({ network: true });
    const { server, port } = await listen();
    const kernel = await start(subject, "alice", "online");
    const connect = `import socket; socket.create_connection(("127.0.0.1", ${port}), 5).recv(9)`;
    assert.equal(await tell(kernel, connect), "b'reached'");
    server.close();
    await subject.cleanUp();
  });

  test("so much memory and so many processes, which it cannot raise; others are not touched", async () => {
    const subject = await makeSandboxedBackend({ memoryMb: 700, maxProcesses: 24 });
    const [greedy, other] = await Promise.all([start(subject, "alice", "greedy"), start(subject, "bob", "other")]);
    assert.equal(await failure(greedy, "x = bytearray(900 << 20)"), "MemoryError");
    const raise = "import resource as r; r.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))";
    assert.equal(await failure(greedy, raise), "ValueError");
    assert.equal(await failure(greedy, "r.setrlimit(r.RLIMIT_NPROC, (999, 999))"), "ValueError");
    const bomb = `
import os, subprocess
children = []
try:
    while len(children) < 100: children.append(subprocess.Popen(["sleep", "30"]))
except OSError as error:
    failed = type(error).__name__
len(children) < 24, failed`;
    assert.equal(await tell(greedy, bomb), "(True, 'BlockingIOError')");
    assert.equal(await tell(other, "import subprocess; subprocess.run(['echo', 'well']).returncode"), "well\n0");
    await greedy.shutdown();
    await subject.cleanUp();
  });
});
