import { existsSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { PythonInfo } from "../src/backends/subprocess/find-python.ts";
import { askProgram } from "../src/backends/subprocess/run-program.ts";
import type { Command, Confined, InstallStep, Sandbox } from "../src/backends/subprocess/sandbox.ts";
import { type ConfineOptions, confine } from "./sandbox/confine.ts";
import { downloadEnvironment, namedPaths, plainEnvironment, sessionEnvironment } from "./sandbox/environment.ts";
import {
  createSandboxFolders,
  type GivenFolder,
  removeTree,
  type SandboxFolders,
  type SessionFolders,
} from "./sandbox/folders.ts";
import { createIds } from "./sandbox/ids.ts";
import { probeSandbox } from "./sandbox/probe.ts";
import { findPrograms } from "./sandbox/programs.ts";
import { isWithin, pythonPaths } from "./sandbox/python-paths.ts";
import { seccompFilter } from "./sandbox/seccomp.ts";
import { checkFolder, folderCheck, HOME, insideFolder } from "./sandbox/session-folder.ts";
import type { Binding, View } from "./sandbox/view.ts";

export type BwrapOptions = {
  readonly python: PythonInfo;
  readonly workerPath: string;
  /** Where homes and packages are kept. */
  readonly stateFolder: string;
  /** Folders and files with secrets: they are never shown, whatever else is. */
  readonly hidden: readonly string[];
  /** Folder that sessions may be given to work in; whoever starts in it can write all of it. */
  readonly root: string | undefined;
  /** Folder that sessions may start in without writing there. */
  readonly readable: string | undefined;
  readonly network: boolean;
  /** Of each process: its address space. */
  readonly memoryMb: number;
  /** Processes and threads of a session at once. */
  readonly maxProcesses: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (line: string) => void;
};

export type BwrapSandbox = Sandbox & Pick<SandboxFolders, "sweep">;

/** What these folders of the machine are called inside. */
const WORKER = "/opt/edge-python-repl";
const BYTECODE = "/opt/edge-python-repl-bytecode";
const PACKAGES = "/opt/python-packages";
const WHEELS = "/opt/python-wheels";
const TEMPORARY = "/tmp";

const COMPILE =
  "import compileall, sys; sys.pycache_prefix = sys.argv[1]; compileall.compile_dir(sys.argv[2], quiet=2)";
const COMPILE_MS = 60_000;

/** For the installer, before it loads any package; kernels see to it themselves. See the worker's main.py. */
const CLOSE_INHERITED = `import os, sys
for name in os.listdir("/proc/self/fd"):
    try:
        int(name) > 2 and os.close(int(name))
    except OSError:
        pass
os.execv(sys.argv[1], sys.argv[1:])`;

type Confine = (
  command: Command,
  cwd: string,
  view: Pick<View, "network" | "bindings" | "environment"> & { readonly volatile?: View["volatile"] },
  id: number | undefined,
) => Confined;

/**
 * Confines with bubblewrap. Sees for itself, by running it, that nothing of the machine can be reached.
 * @throws Error with one sentence that says what is missing, when that is not so.
 */
export async function createBwrapSandbox(options: BwrapOptions): Promise<BwrapSandbox> {
  if (process.platform !== "linux") throw new Error("REPL_SANDBOX=bwrap needs Linux; elsewhere use the e2b backend");
  const { python, stateFolder, root, network, maxProcesses } = options;
  const ids = createIds();
  const programs = await findPrograms(options.env, ids !== undefined);
  const filter = join(stateFolder, "seccomp");
  await mkdir(stateFolder, { recursive: true, mode: 0o700 });
  await writeFile(filter, requireFilter());
  const limits = { memory: options.memoryMb * 2 ** 20, processes: maxProcesses };
  const confineAll = await confiner(options, { programs, filter, limits });
  const folders = createSandboxFolders(stateFolder, ids);
  const bytecode = await folders.bytecode();
  await compileWorker(confineAll, python.executable, bytecode);
  const sandbox = createSandbox(options, folders, bytecode, confineAll);
  await probeSandbox(sandbox, {
    python: python.executable,
    secret: filter,
    writable: [HOME, TEMPORARY, ...(root === undefined ? [] : [root])],
    cwd: root,
    network,
    ...limits,
  });
  return sandbox;
}

function requireFilter(): Uint8Array {
  const filter = seccompFilter(process.arch);
  if (filter) return filter;
  throw new Error(`REPL_SANDBOX=bwrap does not know the system calls of ${process.arch}; use the e2b backend`);
}

/** Once for all sessions, which cannot write there: a new home holds no bytecode, and compiling takes its time. */
async function compileWorker(confineAll: Confine, python: string, { path, id }: GivenFolder): Promise<void> {
  const command: Command = [python, "-I", "-c", COMPILE, BYTECODE, WORKER];
  const bindings = [{ from: path, to: BYTECODE, writable: true }];
  const environment = plainEnvironment(python, {});
  const confined = confineAll(command, "/", { volatile: [HOME, TEMPORARY], network: false, bindings, environment }, id);
  // What is missing afterwards is compiled by each kernel for itself.
  await askProgram(confined.command, { env: confined.env, limitMs: COMPILE_MS });
}

/** What all confined processes see: the system, the interpreter, the worker. */
async function confiner(options: BwrapOptions, settings: ConfineOptions): Promise<Confine> {
  const { python, workerPath, stateFolder } = options;
  const hidden = [stateFolder, ...options.hidden].filter((path) => existsSync(path));
  const { folders, links } = await pythonPaths(python.executable, python.importPaths, [homedir()]);
  const worker = { from: dirname(workerPath), to: WORKER, writable: false };
  return (command, cwd, view, id) => {
    // A private /tmp covers what lies below the machine's, an interpreter too, so that comes after it.
    const temporary = view.bindings.filter(isTemporary);
    const others = view.bindings.filter((binding) => !isTemporary(binding));
    const bindings = [...temporary, ...folders.map(shown), worker, ...others];
    const [program, ...rest] = command.map((path) => calledInside(path, bindings));
    return confine(
      [program ?? command[0], ...rest],
      cwd,
      { volatile: [], ...view, bindings, links, hidden },
      id,
      settings,
    );
  };
}

function createSandbox(
  options: BwrapOptions,
  folders: SandboxFolders,
  bytecode: GivenFolder,
  confineAll: Confine,
): BwrapSandbox {
  const { root, readable, network, env } = options;
  const volatile = [HOME, TEMPORARY];
  return {
    packagesFolder: folders.packages,
    sweep: folders.sweep,
    async kernel(command, { owner, sessionId, cwd: wanted, packages }) {
      const cwd = insideFolder(wanted);
      const own = await folders.session(owner, sessionId);
      const bindings = [
        ...(readable === undefined ? [] : [shown(readable)]),
        ...sessionBindings(own),
        { from: bytecode.path, to: BYTECODE, writable: false },
        ...(packages === "" ? [] : [{ from: packages, to: PACKAGES, writable: false }]),
        // The whole of it: a folder below could be replaced by a link to elsewhere before it is bound.
        ...(root !== undefined && isWithin(cwd, root) ? [given(root)] : []),
      ];
      const visible = sessionEnvironment(calledInside(command[0], bindings), network, env);
      const view = { network, bindings, environment: { ...visible, EDGE_REPL_BYTECODE: BYTECODE } };
      if (wanted !== undefined) await checkFolder(wanted, confineAll(folderCheck(cwd), "/", view, own.id));
      return confineAll(command, cwd, view, own.id);
    },
    async installer(installing, step) {
      const id = folders.installerId(step.owner);
      const [python] = installing;
      const command: Command = [python, "-I", "-S", "-c", CLOSE_INHERITED, ...installing];
      if (step.kind === "download")
        return confineAll(command, TEMPORARY, { volatile, ...downloadView(command, step, env) }, id);
      await folders.giveToInstaller(step.owner, step.packages);
      const bindings = [
        { from: step.wheels, to: WHEELS, writable: false },
        { from: step.packages, to: PACKAGES, writable: true },
      ];
      const environment = plainEnvironment(calledInside(command[0], bindings), env);
      return confineAll(command, TEMPORARY, { volatile, network: false, bindings, environment }, id);
    },
    async wheelsFolder(owner) {
      const path = await folders.wheels(owner);
      return { path, remove: () => removeTree(path) };
    },
    async forget({ owner, sessionId }) {
      // The session is gone for its owner whatever this says; the next start of the server tries again.
      await folders
        .forget(owner, sessionId)
        .catch((error: unknown) => options.log(`A sandbox's folder stays: ${error}`));
    },
  };
}

function downloadView(command: Command, { wheels }: InstallStep, env: BwrapOptions["env"]) {
  const environment = downloadEnvironment(command[0], env);
  const folder = { from: wheels, to: WHEELS, writable: true };
  return { network: true, bindings: [...namedPaths(environment), ...pipSettings(), folder], environment };
}

/** The machine's and the server's user's own settings of pip. */
function pipSettings(): Binding[] {
  const places = [
    ["/etc/pip.conf", "/etc/pip.conf"],
    [join(homedir(), ".pip/pip.conf"), `${HOME}/.pip/pip.conf`],
    [join(homedir(), ".config/pip/pip.conf"), `${HOME}/.config/pip/pip.conf`],
  ] as const;
  return places.filter(([from]) => isOpen(from)).map(([from, to]) => ({ from, to, writable: false }));
}

/** Can it be read by the installer too, which as root's takes another id? */
function isOpen(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (process.getuid?.() !== 0 || (found.mode & 0o004) !== 0);
}

function sessionBindings({ home, temporary, passwd, group }: SessionFolders): Binding[] {
  return [
    { from: passwd, to: "/etc/passwd", writable: false },
    { from: group, to: "/etc/group", writable: false },
    { from: home, to: HOME, writable: true },
    { from: temporary, to: TEMPORARY, writable: true },
  ];
}

/** The path by which a confined process finds a file of this machine. */
function calledInside(path: string, bindings: readonly Binding[]): string {
  const binding = bindings.find(({ from, to }) => from !== to && isWithin(path, from));
  return binding ? binding.to + path.slice(binding.from.length) : path;
}

function shown(path: string): Binding {
  return { from: path, to: path, writable: false };
}

function given(path: string): Binding {
  return { from: path, to: path, writable: true };
}

function isTemporary({ to }: Binding): boolean {
  return to === TEMPORARY;
}
