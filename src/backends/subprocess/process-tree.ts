import { readdirSync, readFileSync } from "node:fs";

/** Enough for a tree that forks while it is being killed. */
const MAX_ROUNDS = 10;

/**
 * Kills a monitor that does not answer, with all that descends from it, also what left its process group.
 * The monitor goes last: as long as it lives, orphans become its children and can be found.
 * @param kernelPid The kernel's process group where the system has no /proc to find descendants in.
 */
export function killTree(monitorPid: number, kernelPid: number | undefined): void {
  signal(monitorPid, "SIGSTOP");
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const pids = descendants(monitorPid);
    if (pids.length === 0) break;
    for (const pid of pids) signal(pid, "SIGKILL");
  }
  if (kernelPid !== undefined) killGroup(kernelPid);
  killGroup(monitorPid);
}

export function killGroup(pid: number, name: "SIGINT" | "SIGKILL" = "SIGKILL"): void {
  signal(-pid, name);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== "ESRCH" && errorCode(error) !== "EPERM") throw error;
  }
}

/** Living descendants of `root`; none where there is no /proc. */
function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of processIds()) {
    const parent = livingParent(pid);
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(pid);
    else children.set(parent, [pid]);
  }
  const found: number[] = [];
  for (const queue = [root]; queue.length > 0; ) {
    const next = children.get(queue.pop() ?? root) ?? [];
    found.push(...next);
    queue.push(...next);
  }
  return found;
}

function processIds(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** The parent of a process that still runs; undefined for one that is gone or a zombie. */
function livingParent(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name, in parentheses, may itself hold blanks and parentheses.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : Number(parent);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ESRCH") return undefined;
    throw error;
  }
}

/** The system's name of an error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
