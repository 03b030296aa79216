import type { Command, Confined } from "../../src/backends/subprocess/sandbox.ts";
import type { Programs } from "./programs.ts";
import { type View, viewArguments } from "./view.ts";

export type Limits = {
  /** Bytes of address space of each process. */
  readonly memory: number;
  /** Processes and threads at once. */
  readonly processes: number;
};

export type ConfineOptions = {
  readonly programs: Programs;
  /** File with the filter of system calls. */
  readonly filter: string;
  readonly limits: Limits;
};

/** Descriptor 9 is the filter of system calls. What is confined goes first when memory runs out, and last for the CPU. */
const ENTRY = 'umask 022; echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec 9<"$1"; shift; exec nice -n 10 "$@"';
/** The innermost command: only with its final id may a process enter its folder. */
const ENTER = 'cd -- "$1" || exit; shift; unset OLDPWD; exec "$@"';
/** Of the programs that confine; what is confined has the view's. */
const OUTER_ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin" };

/**
 * Puts in front of `command` what confines it: a view of its own, another user's id where the server is root, limits
 * that cannot be raised again.
 * @param cwd As it is called inside.
 * @param id The user's id to take; undefined where the server is not root.
 */
export function confine(
  command: Command,
  cwd: string,
  view: Omit<View, "privileged" | "sharedMemory">,
  id: number | undefined,
  { programs, filter, limits }: ConfineOptions,
): Confined {
  const sharedMemory = programs.sizes ? Math.ceil(limits.memory / 2) : undefined;
  const seen = viewArguments({ ...view, privileged: id !== undefined, sharedMemory });
  const outer: Command = [programs.sh, "-c", ENTRY, "sh", filter];
  const bwrap = [programs.bwrap, ...seen, "--seccomp", "9", "--"];
  return {
    command: [...outer, ...bwrap, ...takeId(programs, id), ...limit(programs, limits), ...enter(cwd), ...command],
    cwd: "/",
    env: OUTER_ENVIRONMENT,
  };
}

function enter(cwd: string): string[] {
  return ["/bin/sh", "-c", ENTER, "sh", cwd];
}

function takeId({ setpriv }: Programs, id: number | undefined): string[] {
  if (id === undefined || setpriv === undefined) return [];
  const identity = ["--reuid", String(id), "--regid", String(id), "--clear-groups"];
  return [setpriv, ...identity, "--inh-caps=-all", "--bounding-set=-all", "--"];
}

function limit({ prlimit }: Programs, { memory, processes }: Limits): string[] {
  return [prlimit, `--nproc=${processes}:${processes}`, `--as=${memory}:${memory}`, "--core=0:0", "--"];
}
