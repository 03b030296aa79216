import type { FileEntry, InstallReply, Supports } from "../../src/core/backend.ts";
import type { ErrorCode } from "../../src/core/errors.ts";

/** What a check of the backend contract says: steps as data, each with what must come of it. */

/** Text that must be exactly so, or match a pattern; `sample` is one that does, for the suite's own test. */
export type TextMatch = string | { readonly like: RegExp; readonly sample: string };

/** Each MIME type that matters, with its content; `null` must be absent. Others may be there. */
export type BundleMatch = Readonly<Record<string, TextMatch | null>>;

export type OutputMatch =
  | { readonly stdout: TextMatch; readonly late?: boolean }
  | { readonly stderr: TextMatch; readonly late?: boolean }
  | { readonly display: BundleMatch }
  | { readonly result: BundleMatch }
  /** Printed text of which the middle was left out: how it begins and ends, and how long it was. */
  | { readonly cut: "stdout" | "stderr"; readonly begins: string; readonly ends: string; readonly length: number }
  /** The same for text of any length and any cut, such as that of a loop that was stopped. */
  | { readonly flood: "stdout" | "stderr"; readonly begins: string; readonly ends: RegExp };

/** Lines of carets, which differ between Python versions, are left out before a traceback is compared as text. */
export type ErrorMatch = { readonly name: string; readonly message: TextMatch; readonly traceback: TextMatch };

export type CellResult = {
  /** In order; neighbouring texts of one stream count as one. Default: none at all. */
  readonly out?: readonly OutputMatch[];
  /** Instead of `out`: what it printed, and then the text of its value. */
  readonly stdout?: TextMatch;
  readonly stderr?: TextMatch;
  readonly value?: TextMatch;
  /** A stream that a process in the background writes to: only the amount of its text is compared. */
  readonly noise?: "stdout" | "stderr";
  readonly error?: ErrorMatch;
  readonly aborted?: "kept" | "lost";
  readonly died?: TextMatch;
  /** With `died`: the kernel was gone before. */
  readonly started?: false;
  /** What it is said to have made or changed: paths and bytes, in order. Default: whatever is said. */
  readonly files?: Readonly<Record<string, number>>;
  /** How many files more are said to be there than are named. */
  readonly moreFiles?: number;
  /** The call itself is refused. */
  readonly refused?: ErrorCode;
  /** Milliseconds from the stop, or else from the call, to the reply. */
  readonly withinMs?: number;
};

export type Stop =
  /** The signal has fired before the call. */
  | { readonly at: "start" }
  /** The signal fires, or the kernel is shut down, when output with this text has come. */
  | { readonly at: "output"; readonly text: string; readonly by: "signal" | "shutdown" }
  /** The signal fires when the session's file exists: for code that prints nothing. */
  | { readonly at: "file"; readonly path: string }
  /** The signal fires after the reply. */
  | { readonly at: "end" };

/** `on` names one of several kernels of a check; it is started when first used. */
type On = { readonly on?: string };

export type CellStep = On & CellResult & { readonly run: string; readonly path?: string; readonly stop?: Stop };
export type StartStep = On & { readonly start: { readonly cwd?: string }; readonly refused?: ErrorCode };
export type ShutdownStep = On & { readonly shutdown: "once" | "twice" };
export type WriteStep = On & {
  readonly write: string;
  readonly data: string | Uint8Array;
  readonly replaced?: boolean;
  readonly refused?: ErrorCode;
};
export type ReadStep = On & {
  readonly read: string;
  /** Bytes; default 1 MiB. */
  readonly limit?: number;
  readonly data?: string | Uint8Array;
  readonly refused?: ErrorCode;
};
export type ListStep = On & {
  readonly list: string;
  readonly limit?: number;
  readonly entries?: readonly Pick<FileEntry, "name" | "kind" | "size">[];
  readonly refused?: ErrorCode;
};
/** Cells of different kernels at the same time. */
export type TogetherStep = { readonly together: readonly CellStep[]; readonly withinMs: number };
/** Waits until the session's file is there. */
export type AwaitStep = On & { readonly awaitFile: string };
export type InstallStep = On & {
  readonly install: readonly string[];
  readonly gives?: InstallReply;
  readonly refused?: ErrorCode;
  readonly cancel?: boolean;
};

export type Step =
  | CellStep
  | StartStep
  | ShutdownStep
  | WriteStep
  | ReadStep
  | ListStep
  | AwaitStep
  | InstallStep
  | TogetherStep;

export type BackendCheck = {
  readonly id: string;
  /** The capabilities without which a backend may skip this check; the only way to skip. */
  readonly needs?: readonly (keyof Supports)[];
  /** Oldest Python that has what is checked, such as `3.11`. */
  readonly python?: string;
  /** Modules that must be importable. */
  readonly modules?: readonly string[];
  readonly steps: readonly Step[];
};

export function like(pattern: RegExp, sample: string): TextMatch {
  return { like: pattern, sample };
}

/** The outputs that a result asks for, whichever way it says so. */
export function outputsOf(result: CellResult): readonly OutputMatch[] {
  if (result.out) return result.out;
  return [
    ...(result.stdout === undefined ? [] : [{ stdout: result.stdout }]),
    ...(result.stderr === undefined ? [] : [{ stderr: result.stderr }]),
    ...(result.value === undefined ? [] : [{ result: { "text/plain": result.value } }]),
  ];
}

/** The steps with those that run at the same time one by one. */
export function flatten(steps: readonly Step[]): readonly Exclude<Step, TogetherStep>[] {
  return steps.flatMap<Exclude<Step, TogetherStep>>((step) => ("together" in step ? step.together : [step]));
}

/** Code of several lines. */
export function lines(...code: readonly string[]): string {
  return code.join("\n");
}
