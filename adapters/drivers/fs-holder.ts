import { hostname } from "node:os";
import process from "node:process";
import { isRunning } from "../is-running.ts";

/** Which process holds a lock: enough to see that it is gone. */
type Holder = { readonly host: string; readonly pid: number; readonly instance: string };

const INSTANCE = Symbol.for("edge-python-repl.instance");

/** Names this process, as JSON. */
export function thisHolder(): string {
  return JSON.stringify({ host: host(), pid: process.pid, instance: instance() } satisfies Holder);
}

/** Is the process that `text` names surely gone? False where that cannot be known. */
export function isGone(text: string): boolean {
  const holder = parse(text);
  if (holder === undefined || holder.host === "" || holder.host !== host()) return false;
  // A container that starts again may give this process the number of the one that was killed.
  return holder.pid === process.pid ? holder.instance !== instance() : !isRunning(holder.pid);
}

function parse(text: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    if (!("host" in value && "pid" in value && "instance" in value)) return undefined;
    const { host: name, pid, instance: id } = value;
    if (typeof name !== "string" || typeof pid !== "number" || typeof id !== "string") return undefined;
    return { host: name, pid, instance: id };
  } catch {
    return undefined; // Its writer was killed before it had written: nobody knows who that was.
  }
}

function host(): string {
  try {
    return hostname();
  } catch {
    return ""; // Deno without --allow-sys.
  }
}

/** The same for all copies of this module in the process: two of them must not break each other's locks. */
function instance(): string {
  const known: unknown = Reflect.get(globalThis, INSTANCE);
  if (typeof known === "string") return known;
  const made = crypto.randomUUID();
  Reflect.set(globalThis, INSTANCE, made);
  return made;
}
