import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { seccompFilter } from "../../adapters/sandbox/seccomp.ts";
import { createBwrapSandbox } from "../../adapters/sandbox-bwrap.ts";
import { findPython } from "../../src/backends/subprocess/find-python.ts";
import { WORKER } from "../backends/subprocess-setup.ts";
import { runToEnd, SERVER_COMMAND, until } from "../helpers/process.ts";
import { type ServerProcess, startServer } from "../helpers/server.ts";
import { type HttpClient, httpClient } from "./http-client.ts";
import { sandboxRefusal } from "./sandbox-setup.ts";

const skip = sandboxRefusal() ?? false;

const HELP = "--perms --as-pid-1 --clearenv --unshare-cgroup-try --seccomp --size";
/** Programs that stand in for bubblewrap. `leaky` is the real one without some of its options. */
const FAKES = {
  old: "echo '--bind --proc --dev'",
  refusing: `case "$1" in --help) echo '${HELP}';; *) echo 'bwrap: No permissions to create a new namespace' >&2; exit 1;; esac`,
  leaky: `
left=$#
while [ $left -gt 0 ]; do
  argument=$1; shift; left=$((left - 1))
  case $argument in
    --unshare-net|--unshare-pid|--as-pid-1) ;;
    --seccomp) shift; left=$((left - 1)) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
PATH=\${PATH#*:} exec bwrap "$@"`,
};

describe("a sandbox that cannot hold", { skip }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "sandbox-start-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function make(fake: keyof typeof FAKES | "missing"): Promise<unknown> {
    const bin = await mkdtemp(join(folder, "bin-"));
    if (fake !== "missing") await writeFile(join(bin, "bwrap"), `#!/bin/sh\n${FAKES[fake]}\n`, { mode: 0o755 });
    const path = fake === "missing" ? bin : `${bin}:${process.env.PATH}`;
    return createBwrapSandbox({
      python: await findPython(process.env),
      workerPath: WORKER,
      stateFolder: join(folder, "state"),
      hidden: [],
      root: undefined,
      readable: undefined,
      network: false,
      memoryMb: 1024,
      maxProcesses: 64,
      env: { ...process.env, PATH: path },
      log: () => undefined,
    });
  }

  test("is not made without bubblewrap, and says how to get it", async () => {
    const message = "REPL_SANDBOX=bwrap needs the program bwrap: install the package bubblewrap of your distribution";
    await assert.rejects(make("missing"), { message });
  });

  test("is not made with one that is too old", async () => {
    await assert.rejects(
      make("old"),
      /^Error: REPL_SANDBOX=bwrap needs bubblewrap 0\.5 or newer; .* does not know --perms/,
    );
  });

  test("is not made where namespaces are refused, and says what was said", async () => {
    await assert.rejects(
      make("refusing"),
      /cannot confine on this machine \(bwrap: No permissions to create a new namespace\)/,
    );
  });

  test("is not made when it leaks: each hole is named", async () => {
    await assert.rejects(make("leaky"), (error: Error) => {
      assert.match(error.message, /^REPL_SANDBOX=bwrap does not hold on this machine: /);
      for (const hole of ["other processes can be seen", "there is a network", "namespaces can be made"]) {
        assert.ok(error.message.includes(hole), `${hole}: ${error.message}`);
      }
      return true;
    });
  });

  test("has no filter for a processor whose system calls are not known", () => {
    assert.equal(seccompFilter("mips"), undefined);
    assert.equal((seccompFilter("x64") ?? []).length % 8, 0);
    assert.notDeepEqual(seccompFilter("x64"), seccompFilter("arm64"));
  });
});

describe("a server with REPL_SANDBOX=bwrap", { skip }, () => {
  let data: string;
  before(async () => {
    data = await mkdtemp(join(tmpdir(), "sandbox-server-"));
  });
  after(() => rm(data, { recursive: true, force: true }));

  const begin = async (env: Record<string, string>): Promise<{ server: ServerProcess; client: HttpClient }> => {
    const server = await startServer({ REPL_SANDBOX: "bwrap", XDG_DATA_HOME: data, ...env });
    return { server, client: httpClient(server.url) };
  };

  test("does not start where it cannot be made: one sentence, exit code 2", async () => {
    const python = (await findPython(process.env)).executable;
    const env = { REPL_SANDBOX: "bwrap", REPL_PYTHON: python, PATH: join(data, "empty"), REPL_STORAGE: "memory" };
    const end = await runToEnd(SERVER_COMMAND, { env });
    assert.equal(end.code, 2);
    assert.match(end.stderr, /^edge-python-repl: REPL_SANDBOX=bwrap needs the program bwrap: [^\n]+\n$/);
  });

  test("gives each session a home, which goes with the session, and keeps it over a restart", async () => {
    const state = join(data, "edge-python-repl", "sandbox");
    const first = await begin({ REPL_STORAGE: `fs:${join(data, "history")}` });
    await first.client.tool("create_session", { session_id: "kept" });
    await first.client.tool("create_session", { session_id: "deleted" });
    for (const id of ["kept", "deleted"]) await first.client.run(id, "open('note', 'w').write('here')");
    await first.client.tool("delete_session", { session_id: "deleted" });
    const [store = ""] = await readdir(state);
    assert.deepEqual(await readdir(join(state, store, "local", "s")), ["kept"]);
    await first.server.stop();
    const second = await begin({ REPL_STORAGE: `fs:${join(data, "history")}` });
    assert.match(await second.client.run("kept", "open('note').read()"), /'here'/);
    await second.server.stop();
  });

  test("keeps from code what its own parent left open, such as a folder", async () => {
    // High numbers are those that the runtime itself does not look at.
    const opening = "import os, sys; os.dup2(os.open('/etc', os.O_RDONLY), 251); os.execv(sys.argv[1], sys.argv[1:])";
    const command: [string, ...string[]] = ["python3", "-c", opening, ...SERVER_COMMAND];
    const env = { REPL_SANDBOX: "bwrap", XDG_DATA_HOME: data, REPL_STORAGE: "memory" };
    const server = await startServer(env, command);
    const client = httpClient(server.url);
    await client.tool("create_session", { session_id: "open" });
    const code = `
import os
def readable(descriptor):
    try:
        return os.path.exists(f"/proc/self/fd/{descriptor}") and bool(os.listdir(descriptor))
    except OSError:
        return False
[descriptor for descriptor in range(3, 1024) if readable(descriptor)]`;
    assert.match(await client.run("open", code), /\n\[\]$/);
    await server.stop();
  });

  test("leaves nothing behind when history is kept in memory", async () => {
    const before = readdirSync(tmpdir());
    const { server, client } = await begin({ REPL_STORAGE: "memory" });
    await client.tool("create_session", { session_id: "volatile" });
    await client.run("volatile", "1");
    await server.stop();
    const left = readdirSync(tmpdir()).filter(
      (name) => name.startsWith("edge-python-repl-sandbox-") && !before.includes(name),
    );
    assert.deepEqual(left, []);
  });

  test("leaves no process behind when it is killed, and what is left of its files goes at the next start", async () => {
    const left = (): string[] => readdirSync(tmpdir()).filter((name) => /^edge-python-repl-sandbox-/.test(name));
    const { server, client } = await begin({ REPL_STORAGE: "memory" });
    const [own] = left().filter((name) => name.includes(`-${server.pid}-`));
    const mark = `86400.${process.pid}`;
    await client.tool("create_session", { session_id: "orphan" });
    await client.run("orphan", `import subprocess; p = subprocess.Popen(["sleep", "${mark}"], start_new_session=True)`);
    assert.equal(processesWith(mark), 1);
    await server.stop("SIGKILL");
    await until(() => processesWith(mark) === 0, "the end of what the session had started");
    assert.ok(own !== undefined && left().includes(own));
    const next = await begin({ REPL_STORAGE: "memory" });
    assert.ok(!left().includes(own));
    await next.server.stop();
  });
});

/** How many processes of the machine have `text` in their command. */
function processesWith(text: string): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.filter((pid) => commandOf(pid).includes(text)).length;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return ""; // It has just ended.
  }
}
