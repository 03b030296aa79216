import { runProgram } from "../../src/backends/subprocess/run-program.ts";
import type { Command, Confined, Sandbox } from "../../src/backends/subprocess/sandbox.ts";

const PROBE_MS = 30_000;
const OWNER = "probe";

/**
 * Runs inside and tries to reach what must be out of reach. Prints one line for each hole that it finds.
 * Arguments: a secret of the server, folders that must be writable, whether there should be a network, the limits.
 */
const SCRIPT = `
import os, resource, socket, sys, time
secret, folders, network, memory, processes = sys.argv[1:]
holes = []
def refused(name, attempt):
    try:
        attempt()
    except OSError:
        return
    holes.append(name)
def write(folder):
    path = os.path.join(folder, ".edge-repl-probe")
    open(path, "w").close()
    os.unlink(path)
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
if int(status["CapEff"], 16) or int(status["CapBnd"], 16):
    holes.append("capabilities are left")
if status["NoNewPrivs"].strip() != "1":
    holes.append("programs can raise their rights")
if any(name.isdigit() and name != str(os.getpid()) for name in os.listdir("/proc")):
    holes.append("other processes can be seen")
if network == "0" and [name for _, name in socket.if_nameindex() if name != "lo"]:
    holes.append("there is a network")
refused("files of the server can be read", lambda: open(secret).close())
for name in ("/", "/usr", "/etc", "/dev"):
    refused(name + " can be written", lambda: write(name))
refused("settings of the kernel can be written", lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)))
for name in folders.split(":"):
    try:
        write(name)
    except OSError as error:
        holes.append("%s cannot be written (%s)" % (name, error.strerror))
try:
    import ctypes
    if ctypes.CDLL(None).unshare(0x10000000) == 0:
        holes.append("namespaces can be made")
except ImportError:
    pass
if resource.getrlimit(resource.RLIMIT_AS) != (int(memory), int(memory)):
    holes.append("memory is not limited")
if resource.getrlimit(resource.RLIMIT_NPROC)[1] != int(processes):
    holes.append("processes are not limited")
resource.setrlimit(resource.RLIMIT_NPROC, (3, int(processes)))
children = []
try:
    for _ in range(4):
        child = os.fork()
        if child == 0:
            time.sleep(9)
            os._exit(0)
        children.append(child)
    holes.append("the limit of processes has no effect")
except OSError:
    pass
for child in children:
    os.kill(child, 9)
print("probe:" + "; ".join(holes))
`;

export type ProbeOptions = {
  readonly python: string;
  /** A file of the server that must not be readable. */
  readonly secret: string;
  /** Folders as they are called inside. */
  readonly writable: readonly string[];
  readonly cwd: string | undefined;
  readonly network: boolean;
  /** Bytes. */
  readonly memory: number;
  readonly processes: number;
};

/** @throws Error with one sentence when the sandbox cannot be made, or does not hold. */
export async function probeSandbox(sandbox: Sandbox, options: ProbeOptions): Promise<void> {
  const { secret, writable, network, memory, processes } = options;
  const facts = [secret, writable.join(":"), network ? "1" : "0", String(memory), String(processes)];
  const command: Command = [options.python, "-I", "-S", "-c", SCRIPT, ...facts];
  const session = { owner: OWNER, sessionId: OWNER };
  try {
    const confined = await sandbox.kernel(command, { ...session, cwd: options.cwd, packages: "" });
    judge(await outputOf(confined));
  } finally {
    await sandbox.forget(session);
  }
}

function judge(output: string): void {
  const holes = /^probe:(.*)$/m.exec(output)?.[1];
  if (holes === "") return;
  if (holes !== undefined) throw new Error(`REPL_SANDBOX=bwrap does not hold on this machine: ${holes}`);
  const said = output.trim().split("\n").at(-1) || "it said nothing";
  throw new Error(
    `REPL_SANDBOX=bwrap cannot confine on this machine (${said}): allow unprivileged user namespaces, in a container by ` +
      "its seccomp and AppArmor profiles, or use the e2b backend",
  );
}

async function outputOf({ command, env }: Confined): Promise<string> {
  const chunks: Uint8Array[] = [];
  await runProgram(command, { env, limitMs: PROBE_MS, onOutput: (chunk) => chunks.push(chunk) });
  return Buffer.concat(chunks).toString("utf8");
}
