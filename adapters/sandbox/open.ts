import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { PythonInfo } from "../../src/backends/subprocess/find-python.ts";
import type { Config } from "../../src/config.ts";
import { dataFolder } from "../drivers/open.ts";
import type { Log } from "../log.ts";
import { type BwrapSandbox, createBwrapSandbox } from "../sandbox-bwrap.ts";
import { removeTree } from "./folders.ts";
import { isWithin } from "./python-paths.ts";
import { makeVolatileFolder } from "./volatile.ts";

export type OpenedSandbox = {
  readonly sandbox: BwrapSandbox;
  /** Where sessions start that name no folder; undefined: in their homes. */
  readonly startFolder: string | undefined;
  /** Removes what must not outlive the server. */
  close(): Promise<void>;
};

/** Without REPL_MEMORY_MB: enough for data frames, and not for taking the machine down. */
const MEMORY_MB = 4096;

/** Makes the sandbox that the settings ask for. @throws Error with one sentence when it cannot hold. */
export async function openSandbox(
  config: Config,
  { python, workerPath, log }: { readonly python: PythonInfo; readonly workerPath: string; readonly log: Log },
): Promise<OpenedSandbox> {
  const data = dataFolder(process.env);
  const storage = config.REPL_STORAGE ?? "";
  const volatile = storage === "memory";
  // Servers over one store share their sessions' files; others must not, since each removes what it does not know.
  const stateFolder = volatile
    ? await makeVolatileFolder()
    : join(data, "sandbox", createHash("sha256").update(storage).digest("hex").slice(0, 16));
  const root = config.REPL_ROOT === undefined ? undefined : folderOf(config.REPL_ROOT);
  const start = config.REPL_CWD === undefined ? root : folderOf(config.REPL_CWD);
  const readable = start === undefined || (root !== undefined && isWithin(start, root)) ? undefined : start;
  if (root !== undefined && config.auth.mode !== "none") log("warning", { message: "All owners share REPL_ROOT" });
  const close = async (): Promise<void> => (volatile ? removeTree(stateFolder) : undefined);
  const making = createBwrapSandbox({
    python,
    workerPath,
    stateFolder,
    hidden: [data, ...pathsIn(storage)],
    root,
    readable,
    network: config.REPL_SANDBOX_NETWORK,
    memoryMb: config.REPL_MEMORY_MB || MEMORY_MB,
    maxProcesses: config.REPL_MAX_PROCESSES,
    env: process.env,
    log: (line) => log("sandbox", { line }),
  });
  const sandbox = await making.catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { sandbox, startFolder: start, close };
}

/** The folder or file that a setting of the store names. */
function pathsIn(storage: string): string[] {
  const path = /^(?:fs|sqlite|deno-kv):(.+)$/s.exec(storage)?.[1];
  return path === undefined ? [] : [folderOf(path)];
}

function folderOf(path: string): string {
  return resolve(path.replace(/^~(?=\/|$)/, () => homedir()));
}
