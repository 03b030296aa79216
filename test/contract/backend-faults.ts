import type { ExecutionReply, Output } from "../../src/core/execution.ts";
import { type Answer, type Fault, type LoneStep, rightAnswer } from "./backend-oracle.ts";
import { type CellStep, outputsOf, type TextMatch } from "./backend-steps.ts";

/** Every way to answer a step wrongly that the contract must notice. */
export function faultsOf(step: LoneStep): Fault[] {
  const fault = (what: string, change: Partial<Answer>): Fault => ({
    step,
    what,
    answer: (right) => ({ ...right, ...change }),
  });
  if ("refused" in step && step.refused) {
    const accepted: Fault = { step, what: "it was accepted", answer: ({ refused: _, ...right }) => right };
    return [accepted, fault("refused for another reason", { refused: "INTERNAL" })];
  }
  const found = [...callFaults(step, fault), ...("run" in step ? cellFaults(step, fault) : [])];
  return "awaitFile" in step || ("start" in step && !step.refused)
    ? []
    : [fault("it was refused", { refused: "INTERNAL" }), ...found];
}

type MakeFault = (what: string, change: Partial<Answer>) => Fault;

function callFaults(step: LoneStep, fault: MakeFault): Fault[] {
  const right = rightAnswer(step);
  if ("read" in step) {
    return [fault("other bytes", { data: Uint8Array.of(...right.data, 1) }), fault("relative path", { path: "file" })];
  }
  if ("write" in step) {
    const replaced = step.replaced === undefined ? [] : [fault("replaced is wrong", { replaced: !step.replaced })];
    return [...replaced, fault("relative path", { path: "file" })];
  }
  if ("list" in step) {
    const { entries } = right;
    const [first, ...others] = entries;
    if (!first)
      return [
        fault("an entry more", {
          entries: [{ name: "x", path: "/x", kind: "file", size: 0, modified: Date.now() / 1000 }],
        }),
      ];
    return [
      fault("an entry less", { entries: others }),
      fault("another kind", { entries: [{ ...first, kind: first.kind === "folder" ? "file" : "folder" }, ...others] }),
      fault("milliseconds", { entries: [{ ...first, modified: Date.now() }, ...others] }),
      fault("relative path", { entries: [{ ...first, path: first.name }, ...others] }),
      ...(others.length > 0 ? [fault("not sorted", { entries: [...entries].reverse() })] : []),
    ];
  }
  if ("install" in step) {
    return [
      fault("says nothing", { lines: [] }),
      fault("another version", { install: { installed: ["other 9"], replaced: [] } }),
    ];
  }
  return [];
}

function cellFaults(step: CellStep, fault: MakeFault): Fault[] {
  const { outputs, reply } = rightAnswer(step);
  const more: Output = { type: "display_data", data: { "text/plain": "more" } };
  return [
    fault("output more", { outputs: [...outputs, more] }),
    fault("output after the reply", { late: [more] }),
    ...outputs.flatMap((output, index) => outputFaults(step, outputs, output, index, fault)),
    ...otherReplies(step, reply).map((wrong) => fault(`replies ${JSON.stringify(wrong)}`, { reply: wrong })),
    ...otherFiles(step, reply).map((wrong) => fault(`files ${JSON.stringify(wrong.files)}`, { reply: wrong })),
  ];
}

function otherFiles(step: CellStep, { files, ...reply }: ExecutionReply): ExecutionReply[] {
  if (!step.files) return [];
  const more = { path: "unasked", size: 1 };
  if (!files) return [{ ...reply, files: { folder: "/session", changed: [more], more: 0 } }];
  const { changed } = files;
  return [
    reply,
    { ...reply, files: { ...files, changed: [...changed, more] } },
    { ...reply, files: { ...files, changed: changed.map(({ path, size }) => ({ path, size: size + 1 })) } },
    { ...reply, files: { ...files, changed: changed.map(({ path, size }) => ({ path: `/x/${path}`, size })) } },
    { ...reply, files: { ...files, more: files.more + 1 } },
    { ...reply, files: { ...files, folder: "session" } },
  ];
}

function outputFaults(
  step: CellStep,
  outputs: readonly Output[],
  output: Output,
  index: number,
  fault: MakeFault,
): Fault[] {
  const put = (...instead: Output[]): readonly Output[] => outputs.toSpliced(index, 1, ...instead);
  // What a stopped cell prints is what stops it: without it nothing would end.
  const waits = step.stop?.at === "output";
  const optional = outputsOf(step).some((match) => "stdout" in match && matches(match.stdout, ""));
  const lost =
    waits || optional || (output.type === "stream" && output.text === "")
      ? []
      : [fault(`lost output ${index}`, { outputs: put() })];
  if (output.type !== "stream") {
    const altered = Object.keys(output.data).map((type) =>
      fault(`${type} altered`, { outputs: put({ ...output, data: { ...output.data, [type]: "?" } }) }),
    );
    const other = output.type === "display_data" ? "execute_result" : "display_data";
    return [...lost, ...altered, fault(`${other} instead`, { outputs: put({ ...output, type: other }) })];
  }
  const other = output.name === "stdout" ? "stderr" : "stdout";
  const { dropped: _, ...undropped } = output;
  return [
    ...lost,
    ...(waits ? [] : [fault(`text ${index} altered`, { outputs: put({ ...output, text: "?" }) })]),
    fault(`on ${other}`, { outputs: put({ ...output, name: other }) }),
    ...(output.dropped ? [fault("dropped is not told", { outputs: put(undropped) })] : []),
    ...(isPlainText(step) ? [fault("late is wrong", { outputs: put({ ...output, late: !output.late }) })] : []),
    ...(index > 0 && outputs[index - 1]?.type !== output.type
      ? [fault("out of order", { outputs: [output, ...outputs.toSpliced(index, 1)] })]
      : []),
  ];
}

function isPlainText(step: CellStep): boolean {
  return outputsOf(step).every((match) => !("flood" in match || "cut" in match));
}

function otherReplies(step: CellStep, right: ExecutionReply): ExecutionReply[] {
  const others: ExecutionReply[] = [
    { status: "ok" },
    { status: "error", error: { name: "Exception", message: "", traceback: "Exception" } },
    { status: "aborted", kernelAlive: true },
    { status: "aborted", kernelAlive: false },
    { status: "died", detail: "killed" },
  ];
  const wrong = others.filter(
    (other) =>
      other.status !== right.status ||
      (other.status === "aborted" && right.status === "aborted" && other.kernelAlive !== right.kernelAlive),
  );
  if (right.status === "died" && step.died !== undefined && !matches(step.died, "")) {
    wrong.push({ status: "died", detail: "" });
  }
  if (right.status === "died") {
    const { started, ...died } = right;
    wrong.push(started === false ? died : { ...died, started: false });
  }
  if (right.status !== "error" || !step.error) return wrong;
  const { error } = right;
  const altered = [
    { ...error, name: "Other" },
    { ...error, traceback: "?" },
    { ...error, traceback: `\u001b[31m${error.traceback}` },
    { ...error, traceback: `${error.traceback}\n` },
    ...(matches(step.error.message, "?") ? [] : [{ ...error, message: "?" }]),
  ];
  return [...wrong, ...altered.map((bad): ExecutionReply => ({ status: "error", error: bad }))];
}

function matches(match: TextMatch, text: string): boolean {
  return typeof match === "string" ? match === text : match.like.test(text);
}
