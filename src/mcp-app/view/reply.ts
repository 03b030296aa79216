import { parseChangedFiles } from "../../core/changed-files.ts";
import type { Output } from "../../core/execution.ts";
import type { Block, BlockStatus } from "../../core/session.ts";
import { TABLE_TYPE } from "../../render/table.ts";

/** What an executing tool tells of one block; see `blockOutput` in src/mcp/reply.ts. All of it came over the wire. */
export type Facts = {
  readonly index?: number;
  readonly status?: string;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly result?: string | null;
  readonly error?: Block["error"];
  readonly state?: Block["state"];
  readonly duration_ms?: number;
  readonly note?: string;
  readonly table?: object;
  readonly files?: unknown;
  readonly more_files?: number;
  /** Of a block of `rerun_code`: how many of the reply's pictures are its own. */
  readonly pictures?: number;
  readonly same_output?: boolean;
};

type Content = {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly resource?: { readonly mimeType?: string; readonly text?: string };
};

/** A tool's reply as the host passes it on. */
export type Reply = {
  readonly content?: readonly Content[];
  readonly structuredContent?: Facts & {
    /** Of `rerun_code`. */
    readonly blocks?: readonly Facts[];
    readonly not_run?: number;
    /** Of a refused call. */
    readonly code?: string;
    readonly message?: string;
  };
};

/** @returns The pictures of a reply in order, as bundles. */
export function picturesOf({ content = [] }: Reply): Record<string, string>[] {
  return content.flatMap(({ type, data, mimeType, resource }) => {
    if (type === "image" && data !== undefined && mimeType !== undefined) return [{ [mimeType]: data }];
    const isSvg = type === "resource" && resource?.mimeType === "image/svg+xml" && resource.text !== undefined;
    return isSvg ? [{ "image/svg+xml": resource.text }] : [];
  });
}

/** @returns The first text of a reply: what a host without views shows. */
export function textOf({ content = [] }: Reply): string {
  return content.find(({ type }) => type === "text")?.text ?? "";
}

/** @returns The block that the facts tell of. Streams are apart there, so their mutual order is not known. */
export function blockOf(facts: Facts, code: string, pictures: readonly Record<string, string>[]): Block {
  const { stdout = "", stderr = "", result = null } = facts;
  // The value of a plot's last line says less than the plot; it becomes the picture's description.
  const describes = pictures.length > 0 && result !== null && /^<[^\n]*>$/.test(result);
  const outputs: Output[] = [
    ...stream("stdout", stdout),
    ...stream("stderr", stderr),
    ...pictures.map((data) => shown(describes ? { ...data, "text/plain": result } : data)),
    ...(result === null || describes ? [] : [value(result, facts.table)]),
    ...(result === null && facts.table ? [value("", facts.table)] : []),
  ];
  return {
    ...EMPTY,
    code,
    outputs,
    status: (facts.status ?? "ok") as BlockStatus,
    error: facts.error ?? null,
    state: facts.state ?? "kept",
    durationMs: facts.duration_ms ?? 0,
    ...(facts.note === undefined ? {} : { note: facts.note }),
    ...filesOf(facts),
  };
}

/** Only names and sizes are shown, so the folder does not matter. */
function filesOf({ files, more_files }: Facts): Pick<Block, "files"> {
  const parsed = parseChangedFiles({ folder: "/", changed: files, more: more_files ?? 0 });
  return parsed ? { files: parsed } : {};
}

/** @returns A block of which only the code is known yet. */
export function runningBlock(code: string): Block {
  return { ...EMPTY, code, status: "running" };
}

const EMPTY: Block = {
  sequence: 0,
  kind: "code",
  code: "",
  status: "ok",
  outputs: [],
  error: null,
  state: "kept",
  epoch: 0,
  startedAt: 0,
  durationMs: 0,
  truncatedChars: 0,
};

const shown = (data: Record<string, string>): Output => ({ type: "display_data", data });

function stream(name: "stdout" | "stderr", text: string): Output[] {
  return text === "" ? [] : [{ type: "stream", name, text }];
}

function value(text: string, table: object | undefined): Output {
  const data = table ? { "text/plain": text, [TABLE_TYPE]: JSON.stringify(table) } : { "text/plain": text };
  return { type: "execute_result", data };
}
