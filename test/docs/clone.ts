import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cleanEnvironment, type Environment, ROOT, type Running, start, until, within } from "../helpers/process.ts";
import { bun, denoRuntime, node24 } from "../stores/runtimes.ts";

/** What a reader has after cloning and `npm ci`; the packages are those of this clone. */
const FILES = [
  "package.json",
  "package-lock.json",
  ".npmrc",
  "deno.json",
  "tsconfig.json",
  "manifest.json",
  "compose.yaml",
];
const FOLDERS = ["adapters", "scripts", "src"];

/** A place where a page's commands can do no harm: a copy of the sources and a home of its own. */
export type Clone = {
  readonly folder: string;
  readonly home: string;
  /** Runs a command line to its end. `output` is stdout and stderr in the order written. */
  run(command: string, options?: RunOptions): Promise<{ readonly code: number | null; readonly output: string }>;
  /** Starts one in a process group of its own. */
  start(command: string, env?: Environment): Promise<Started>;
  /** Ends what is left of what was started. */
  remove(): void;
};

export type RunOptions = { readonly env?: Environment; readonly input?: string; readonly limitMs?: number };

export type Started = {
  readonly running: Running;
  /** stdout and stderr in the order written. */
  output(): string;
  /** Sends SIGTERM to the whole group and waits for its end. */
  stop(): Promise<void>;
};

const LIMIT_MS = 30_000;

export function makeClone(): Clone {
  const base = mkdtempSync(join(tmpdir(), "edge-repl-docs-"));
  const [folder, home, bin] = [join(base, "clone"), join(base, "home"), join(base, "bin")];
  for (const path of [folder, home, bin]) mkdirSync(path);
  for (const name of [...FILES, ...FOLDERS]) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const nodes = addPrograms(bin);
  const groups = new Set<number>();
  const environment = (env: Environment = {}): Record<string, string> => ({
    ...cleanEnvironment(),
    HOME: home,
    PATH: `${bin}:${process.env.PATH}`,
    MCP_PORT: "0",
    NO_COLOR: "1",
    npm_config_cache: join(homedir(), ".npm"),
    NODE24: nodes,
    PAGE_TMP: base,
    ...env,
  });

  const begin = async (command: string, env?: Environment): Promise<Running> => {
    const options = { cwd: folder, detached: true, env: environment(env) };
    const running = await start(["bash", "-c", command], options);
    groups.add(running.pid);
    return running;
  };

  return {
    folder,
    home,
    async run(command, { env, input = "", limitMs = LIMIT_MS } = {}) {
      const running = await begin(`exec 2>&1\n${command}`, env);
      // A command that reads nothing may be gone before this is written.
      running.child.stdin?.on("error", () => undefined).end(input);
      const { code } = await within(running.exited, limitMs, `the end of ${command}`).finally(() =>
        killGroup(running.pid),
      );
      groups.delete(running.pid);
      return { code, output: running.stdout() };
    },
    async start(command, env) {
      const running = await begin(`exec 2>&1\n${command}`, env);
      return {
        running,
        output: running.stdout,
        async stop() {
          signalGroup(running.pid, "SIGTERM");
          await until(() => !signalGroup(running.pid, 0), `all of ${command} to end`);
          groups.delete(running.pid);
        },
      };
    },
    remove() {
      for (const pid of groups) killGroup(pid);
      rmSync(base, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/**
 * The programs that pages name. `npx` and an installed `edge-python-repl` are this package as it was built, in place of
 * the one in the registry. @returns The folder of a Node that has SQLite, or this one's.
 */
function addPrograms(bin: string): string {
  const own = `exec node ${join(ROOT, "dist/cli.js")} "$@"`;
  addProgram(join(bin, "edge-python-repl"), own);
  addProgram(
    join(bin, "npx"),
    `if [ "$1" = -y ]; then shift; fi\nif [ "$1" != edge-python-repl ]; then echo "npx: $1 is not here" >&2; exit 1; fi\nshift\n${own}`,
  );
  for (const { name, program } of [denoRuntime, bun]) {
    if (existsSync(program)) symlinkSync(program, join(bin, name));
  }
  return dirname(existsSync(node24.program) ? node24.program : process.execPath);
}

function addProgram(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** False when no process of the group is left. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

function killGroup(pid: number): void {
  signalGroup(pid, "SIGKILL");
}
