import type { Cell } from "../../core/execution.ts";
import { BOOT_SOURCE, PYTHON_SOURCES, WATCHER_SOURCE } from "./python-sources.ts";

export type RunnerSettings = {
  readonly nonce: string;
  readonly cwd: string | null;
  readonly packages: readonly string[];
};

export type CellRequest = {
  readonly nonce: string;
  /** Names this run of the cell: asked for again it does not run again, its output is sent again. */
  readonly cell: string;
  /** The first batch that is wanted. */
  readonly from: number;
  readonly head: number;
  readonly tail: number;
};

/** The error by which IPython tells that the kernel has no runner: it is not the one that we set up. */
export const NO_RUNNER = { name: "KeyError", value: "'_edge_repl'" } as const;

/** Made once: it takes milliseconds. */
let sources: string | undefined;

/** Source of the cell that sets up a new kernel. */
export function warmUpSource(settings: RunnerSettings): string {
  sources ??= loaded(PYTHON_SOURCES);
  const payload = `{"sources": ${sources}, "settings": ${loaded({ ...settings, watcher: WATCHER_SOURCE })}}`;
  return `exec(${pythonLiteral(BOOT_SOURCE)}, {"__name__": "_edge_repl_boot", "payload": ${payload}})`;
}

/** Source of the cell that runs `cell` through the runner. */
export function cellSource({ code, number, path }: Cell, request: CellRequest): string {
  const text = JSON.stringify({ ...request, code, number, path: path ?? null });
  return `__import__("sys").modules["_edge_repl"].kernel.run(${pythonLiteral(text)})`;
}

function loaded(value: unknown): string {
  return `__import__("json").loads(${pythonLiteral(JSON.stringify(value))})`;
}

/** A literal that Python reads as this text, lone surrogates too; on one line and in ASCII, so that no magic is seen in it. */
export function pythonLiteral(text: string): string {
  const ascii = JSON.stringify(text).replace(/[\u007f-\uffff]+/g, (run) => {
    let escaped = "";
    for (const character of run) escaped += escapeOf(character.codePointAt(0) ?? 0);
    return escaped;
  });
  // JSON.stringify writes lone surrogates as \\udXXX already; both languages read its other escapes alike.
  return ascii;
}

function escapeOf(point: number): string {
  return point > 0xffff ? `\\U${point.toString(16).padStart(8, "0")}` : `\\u${point.toString(16).padStart(4, "0")}`;
}
