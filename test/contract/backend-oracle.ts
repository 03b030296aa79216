import type { Backend, FileEntry, InstallReply, Kernel, Supports } from "../../src/core/backend.ts";
import { AppError, type ErrorCode } from "../../src/core/errors.ts";
import type { ExecutionReply, Output } from "../../src/core/execution.ts";
import {
  type BackendCheck,
  type CellResult,
  type CellStep,
  flatten,
  type OutputMatch,
  outputsOf,
  type Step,
  type TextMatch,
  type TogetherStep,
} from "./backend-steps.ts";

/** A backend in memory that runs nothing: it answers each step of a check with what the step wants to see. */

export type Answer = {
  readonly refused?: ErrorCode;
  readonly outputs: readonly Output[];
  readonly reply: ExecutionReply;
  /** Output that comes when the call has been answered already. */
  readonly late?: readonly Output[];
  readonly delayMs?: number;
  readonly data: Uint8Array;
  readonly path: string;
  readonly replaced: boolean;
  readonly entries: readonly FileEntry[];
  readonly install: InstallReply;
  readonly lines: readonly string[];
};

export type LoneStep = Exclude<Step, TogetherStep>;

/** Changes what is answered to one step: a deliberate fault. */
export type Fault = { readonly step: LoneStep; readonly what: string; readonly answer: (right: Answer) => Answer };

const EVERYTHING: Supports = {
  attach: true,
  interrupt: true,
  files: true,
  sharedPackages: true,
  eagerStart: true,
  lateOutput: true,
};

export function createOracle(checks: readonly BackendCheck[], fault?: Fault): Backend {
  const stepsOf = (sessionId: string, name: string): readonly LoneStep[] =>
    flatten(checks.find((check) => sessionId === `${check.id}-${name}`)?.steps ?? []).filter(
      (step) => (step.on ?? "main") === name,
    );
  const answerTo = (step: LoneStep): Answer =>
    step === fault?.step ? fault.answer(rightAnswer(step)) : rightAnswer(step);
  return {
    name: "oracle",
    supports: EVERYTHING,
    async startKernel({ sessionId }) {
      const steps = [...stepsOf(sessionId, sessionId.slice(sessionId.lastIndexOf("-") + 1))];
      if (steps[0] && "start" in steps[0]) refuseIf(answerTo(steps.shift() as LoneStep));
      return createOracleKernel(steps, answerTo);
    },
    attachKernel: async () => undefined,
    discardKernel: async () => undefined,
    close: async () => undefined,
  };
}

function createOracleKernel(steps: LoneStep[], answerTo: (step: LoneStep) => Answer): Kernel {
  let stop = (): void => undefined;
  let running: LoneStep | undefined;
  const next = (): Answer => refuseIf(answerTo(steps.shift() ?? noStep()));
  // While a cell waits for its file, reading is a question for that file, which is no step.
  const read = async (): Promise<Answer> => (running ? rightAnswer(running) : next());
  return {
    ref: {},
    died: new Promise(() => undefined),
    files: { read, write: async () => next(), list: async () => next().entries },
    async execute(_cell, { signal, onOutput }) {
      const step = steps[0] as CellStep;
      const answer = next();
      running = step;
      for (const output of answer.outputs) onOutput(output);
      if (!endsByItself(step)) {
        await new Promise<void>((resolve) => {
          stop = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
          if (signal.aborted) resolve();
        });
      }
      if (answer.delayMs) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
      running = undefined;
      setTimeout(() => answer.late?.forEach(onOutput), 0);
      return answer.reply;
    },
    async shutdown() {
      stop();
      const step = running ? undefined : steps[0];
      if (step && "shutdown" in step && answerTo(steps.shift() as LoneStep).refused)
        throw new Error("Shut down already");
    },
    install: async (_requirements, { onProgress }) => {
      const { lines, install } = next();
      for (const line of lines) onProgress(line);
      return install;
    },
  };
}

/** Only a signal ends the others. */
function endsByItself({ stop }: CellStep): boolean {
  return !stop || stop.at === "end" || (stop.at === "output" && stop.by === "shutdown");
}

function noStep(): never {
  throw new Error("The check has no such step");
}

function refuseIf(answer: Answer): Answer {
  if (answer.refused) throw new AppError(answer.refused, "It was refused; ask for what is allowed");
  return answer;
}

/** What a backend that keeps the contract answers to a step. */
export function rightAnswer(step: LoneStep): Answer {
  const result = "run" in step ? step : {};
  const data = "data" in step && step.data !== undefined ? step.data : "";
  const entries = "entries" in step && step.entries ? step.entries : [];
  return {
    ...("refused" in step && step.refused ? { refused: step.refused } : {}),
    outputs: outputsOf(result).flatMap(toOutputs),
    reply: toReply(result),
    data: typeof data === "string" ? new TextEncoder().encode(data) : data,
    path: "/session/file",
    replaced: "replaced" in step && step.replaced === true,
    entries: entries.map((entry) => ({ ...entry, path: `/session/${entry.name}`, modified: Date.now() / 1000 })),
    install: "gives" in step && step.gives ? step.gives : { installed: [], replaced: [] },
    lines: ["Installing"],
  };
}

export function sampleOf(match: TextMatch): string {
  return typeof match === "string" ? match : match.sample;
}

function toReply(result: CellResult): ExecutionReply {
  const changed = Object.entries(result.files ?? {}).map(([path, size]) => ({ path, size }));
  const files = { folder: "/session", changed, more: result.moreFiles ?? 0 };
  return { ...toBareReply(result), ...(changed.length > 0 ? { files } : {}) };
}

function toBareReply(result: CellResult): ExecutionReply {
  if (result.error) {
    const { name, message, traceback } = result.error;
    return { status: "error", error: { name, message: sampleOf(message), traceback: sampleOf(traceback) } };
  }
  if (result.aborted) return { status: "aborted", kernelAlive: result.aborted === "kept" };
  if (result.died === undefined) return { status: "ok" };
  return { status: "died", detail: sampleOf(result.died), ...(result.started === false ? { started: false } : {}) };
}

function toOutputs(match: OutputMatch): Output[] {
  if ("display" in match) return [{ type: "display_data", data: toBundle(match.display) }];
  if ("result" in match) return [{ type: "execute_result", data: toBundle(match.result) }];
  if ("flood" in match) return [{ type: "stream", name: match.flood, text: match.begins }];
  if ("cut" in match) {
    const dropped = match.length - match.begins.length - match.ends.length;
    return [
      { type: "stream", name: match.cut, text: match.begins },
      { type: "stream", name: match.cut, text: match.ends, dropped },
    ];
  }
  const name = "stdout" in match ? "stdout" : "stderr";
  const text = sampleOf("stdout" in match ? match.stdout : match.stderr);
  return [{ type: "stream", name, text, ...(match.late ? { late: true } : {}) }];
}

function toBundle(match: Readonly<Record<string, TextMatch | null>>): Record<string, string> {
  const present = Object.entries(match).filter((entry): entry is [string, TextMatch] => entry[1] !== null);
  return Object.fromEntries(present.map(([type, content]) => [type, sampleOf(content)]));
}
