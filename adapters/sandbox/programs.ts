import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../../src/backends/subprocess/run-program.ts";

export type Programs = {
  readonly bwrap: string;
  readonly prlimit: string;
  /** Only where the server is root. */
  readonly setpriv: string | undefined;
  readonly sh: string;
  /** Can bubblewrap bound the size of a file system in memory? */
  readonly sizes: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

const ASK_MS = 10_000;
/** Options without which the view cannot be made; the newest of them came with 0.5. */
const NEEDED = ["--perms", "--as-pid-1", "--clearenv", "--unshare-cgroup-try", "--seccomp"];
const INSTALL = {
  bwrap: "the package bubblewrap of your distribution",
  prlimit: "the package util-linux of your distribution",
  setpriv: "the package util-linux of your distribution",
};

/** @throws Error with one sentence that names what is missing and how to get it. */
export async function findPrograms(env: Environment, root: boolean): Promise<Programs> {
  const bwrap = await need("bwrap", env);
  const help = await helpOf(bwrap);
  const missing = NEEDED.filter((option) => !help.includes(option));
  if (missing.length > 0) {
    throw new Error(`REPL_SANDBOX=bwrap needs bubblewrap 0.5 or newer; ${bwrap} does not know ${missing.join(", ")}`);
  }
  return {
    bwrap,
    prlimit: await need("prlimit", env),
    setpriv: root ? await need("setpriv", env) : undefined,
    sh: "/bin/sh",
    sizes: help.includes("--size"),
  };
}

async function need(name: keyof typeof INSTALL, env: Environment): Promise<string> {
  for (const folder of (env.PATH ?? "/usr/bin:/bin").split(":")) {
    if (folder.startsWith("/") && (await isProgram(join(folder, name)))) return join(folder, name);
  }
  throw new Error(`REPL_SANDBOX=bwrap needs the program ${name}: install ${INSTALL[name]}`);
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function helpOf(program: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  await runProgram([program, "--help"], { env: {}, limitMs: ASK_MS, onOutput: (chunk) => chunks.push(chunk) });
  return Buffer.concat(chunks).toString("utf8");
}
