import type { OutputBuffer } from "../core/output-buffer.ts";
import { foldCarriageReturns, stripAnsi } from "../core/terminal.ts";

/** Clients that watch progress get it at least this often, also in silence, so that their own timeout does not fire. */
const HEARTBEAT_MS = 8000;
/** A burst of output is told at most this often. */
const COALESCE_MS = 250;
const MESSAGE_CHARS = 2000;

export type ProgressWatch = {
  /** Give it to the run as `onOutput`; undefined when nobody watches. */
  readonly output: ((buffer: OutputBuffer) => void) | undefined;
  readonly stop: () => void;
};

/** Tells `send` what was printed so far. */
export function watchProgress(send: ((message: string) => void) | undefined): ProgressWatch {
  if (!send) return { output: undefined, stop: () => undefined };
  let latest: OutputBuffer | undefined;
  let soon: ReturnType<typeof setTimeout> | undefined;
  const tell = (): void => {
    soon = undefined;
    heartbeat.refresh();
    // As text that was printed by now: a progress bar is one line, not all of its states.
    send(stripAnsi(foldCarriageReturns(latest?.tail(MESSAGE_CHARS) ?? "")).trimEnd() || "Running");
  };
  const heartbeat = repeating(tell, HEARTBEAT_MS);
  return {
    output: (buffer) => {
      latest = buffer;
      soon ??= setTimeout(tell, COALESCE_MS);
    },
    stop: () => {
      heartbeat.stop();
      clearTimeout(soon);
    },
  };
}

function repeating(task: () => void, everyMs: number): { refresh: () => void; stop: () => void } {
  let timer = setTimeout(task, everyMs);
  return {
    refresh: () => {
      clearTimeout(timer);
      timer = setTimeout(task, everyMs);
    },
    stop: () => clearTimeout(timer),
  };
}
