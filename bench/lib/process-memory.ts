import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Memory of processes as Linux counts it, in bytes. */

/** The share of memory that the process has, where pages that several have count in parts. */
export function proportional(pid: number): number {
  return field(`/proc/${pid}/smaps_rollup`, "Pss");
}

/** The most that was resident since `resetPeak`. */
export function peak(pid: number): number {
  return field(`/proc/${pid}/status`, "VmHWM");
}

export function resident(pid: number): number {
  return field(`/proc/${pid}/status`, "VmRSS");
}

export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** Nanoseconds that all threads of the process have run. */
export function cpuTime(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ofThread = (id: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]);
  return threads.reduce((sum, id) => sum + ofThread(id), 0);
}

/** The process's children, theirs, and so on. */
export function descendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((id) =>
    readFileSync(`/proc/${pid}/task/${id}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function field(file: string, name: string): number {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(file, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}
