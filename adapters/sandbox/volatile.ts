import { mkdtemp, readdir, readlink, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "../is-running.ts";
import { removeTree } from "./folders.ts";

const PREFIX = "edge-python-repl-sandbox";

/**
 * Makes a folder for what must not outlive this process, and removes those of processes that were killed. A name holds
 * the process's id and its namespace of ids: another container over the same folder may have an equal id.
 */
export async function makeVolatileFolder(): Promise<string> {
  const namespace = /\d+/.exec(await readlink("/proc/self/ns/pid").catch(() => ""))?.[0] ?? "0";
  const ours = `${PREFIX}-${namespace}-`;
  for (const name of await readdir(tmpdir())) {
    const path = join(tmpdir(), name);
    const pid = name.startsWith(ours) ? Number(name.slice(ours.length).split("-")[0]) : Number.NaN;
    if (Number.isInteger(pid) && !isRunning(pid) && (await isOurs(path))) await removeTree(path).catch(() => undefined);
  }
  return mkdtemp(join(tmpdir(), `${ours}${process.pid}-`));
}

/** Everybody can make folders there. */
async function isOurs(path: string): Promise<boolean> {
  return stat(path).then(
    ({ uid }) => uid === process.getuid?.(),
    () => false,
  );
}
