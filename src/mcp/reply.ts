import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { DisplayOutput, PythonError } from "../core/execution.ts";
import type { Block } from "../core/session.ts";
import { cutText, renderReply, renderTranscript, splitStreams, tableOf, wellFormed } from "../render/index.ts";
import type { History } from "../sessions/history.ts";
import type { RerunResult } from "../sessions/rerun.ts";
import type { RunResult } from "../sessions/run.ts";
import { fileFacts, fileLinks, filesOutput } from "./changed-files.ts";
import type { ReplySettings } from "./tool.ts";
import { outputUri } from "./uris.ts";

const pythonError = z.object({ name: z.string(), message: z.string(), traceback: z.string() });

/** What the executing tools put into `structuredContent`. */
export const blockOutput = {
  session_id: z.string(),
  index: z.int().describe("Position of the block in history, from 0; shown as [index + 1]"),
  status: z.string().describe("ok, error, timeout, cancelled or died"),
  stdout: z.string(),
  stderr: z.string(),
  result: z.string().nullable().describe("repr of the last expression's value"),
  error: pythonError.nullable(),
  state: z.enum(["kept", "lost"]).describe("Did the variables survive?"),
  duration_ms: z.number(),
  truncated_chars: z.int().describe("Characters of output that this reply leaves out"),
  images: z.int().describe("Pictures that come with the reply"),
  note: z.string().optional(),
  saved: z.boolean().optional().describe("false: the history store failed, only this reply has the block"),
  table: z.unknown().optional().describe("A data frame's first rows, as a Frictionless data resource"),
  ...filesOutput,
};

export const historyOutput = {
  session_id: z.string(),
  total: z.int().describe("Blocks in the whole history"),
  blocks: z.array(
    z.looseObject({ index: z.int(), status: z.string(), kind: z.enum(["code", "file"]), in_memory: z.boolean() }),
  ),
};

/** Pictures over this many characters of base64 are not sent with the reply but linked. */
const MAX_IMAGE_CHARS = 6 * 1024 * 1024;
/** All pictures of a rerun together. */
const MAX_RERUN_IMAGE_CHARS = 20 * 1024 * 1024;
/** About how many files the facts of a rerun name; of each block one at least. */
const MAX_RERUN_FILES = 200;

type RunReplySettings = ReplySettings & { readonly echo: boolean };

export function runReply(id: string, { block, index, unsaved }: RunResult, settings: RunReplySettings): CallToolResult {
  const link = (): string => outputUri(id, index);
  const rendered = renderReply(block, index + 1, { echo: settings.echo, maxChars: settings.replyChars, link });
  const pictures = picturesOf(block, link());
  const text = unsaved ? `${rendered.text}\n(not saved: the history store is unavailable)` : rendered.text;
  return {
    content: [
      { type: "text", text },
      ...pictures,
      ...moreLink(rendered.truncatedChars, link()),
      ...fileLinks(id, [{ block }]),
    ],
    ...structured(settings, () => ({
      session_id: id,
      index,
      ...blockFacts(id, block, settings),
      truncated_chars: block.truncatedChars + rendered.truncatedChars,
      images: pictures.filter(({ type }) => type === "image").length,
      ...(unsaved ? { saved: false } : {}),
    })),
    ...(block.status === "ok" ? {} : { isError: true }),
  };
}

function structured(settings: ReplySettings, facts: () => Record<string, unknown>) {
  return settings.structured === "off" ? {} : { structuredContent: facts() };
}

type FactsSettings = ReplySettings & { readonly maxFiles?: number };

function blockFacts(id: string, block: Block, settings: FactsSettings): Record<string, unknown> {
  const { structured, replyChars, maxFiles } = settings;
  const { stdout, stderr, result } = splitStreams(block, replyChars);
  const table = tableOf(block);
  return {
    status: block.status,
    ...(structured === "brief" ? {} : { stdout, stderr }),
    result,
    error: block.error && errorFacts(block.error, replyChars),
    state: block.state,
    duration_ms: Math.round(block.durationMs * 1000) / 1000,
    ...(block.note === undefined ? {} : { note: block.note }),
    ...(table === undefined ? {} : { table }),
    ...fileFacts(id, block, maxFiles),
  };
}

function errorFacts({ name, message, traceback }: PythonError, maxChars: number): PythonError {
  const short = (text: string): string => wellFormed(cutText([{ text, dropped: 0 }], { maxChars }).text);
  return { name, message: short(message), traceback: short(traceback) };
}

function moreLink(truncated: number, uri: string): ContentBlock[] {
  return truncated > 0 ? [{ type: "resource_link", uri, name: "Whole output", mimeType: "text/plain" }] : [];
}

/** Pictures of a block in order: PNG and JPEG as images, SVG as an embedded resource, too large ones as a link. */
function picturesOf(block: Block, link: string): ContentBlock[] {
  return block.outputs.flatMap((output, position) => (output.type === "stream" ? [] : picture(output, position, link)));
}

function picture({ data }: DisplayOutput, position: number, link: string): ContentBlock[] {
  for (const mimeType of ["image/png", "image/jpeg"]) {
    const content = data[mimeType];
    if (content === undefined) continue;
    if (content.length <= MAX_IMAGE_CHARS) return [{ type: "image", mimeType, data: content.replaceAll("\n", "") }];
    return [{ type: "resource_link", uri: link, name: "A picture too large to send", mimeType: "text/plain" }];
  }
  const svg = data["image/svg+xml"];
  if (svg === undefined || svg.length > MAX_IMAGE_CHARS) return [];
  return [
    {
      type: "resource",
      resource: { uri: `${link}#${position}.svg`, mimeType: "image/svg+xml", text: wellFormed(svg) },
    },
  ];
}

/** However many blocks ran, the reply as a whole is bounded as that of one is. */
export function rerunReply(id: string, result: RerunResult, settings: ReplySettings): CallToolResult {
  const { replyChars } = settings;
  const share = Math.floor(replyChars / result.entries.length);
  const maxFiles = Math.ceil(MAX_RERUN_FILES / result.entries.length);
  const parts = result.entries.map(({ block, index, same }) => {
    const rendered = renderReply(block, index + 1, {
      echo: settings.echo,
      maxChars: Math.max(1000, share),
      link: () => outputUri(id, index),
    });
    const text = `${rendered.text}\n(${same ? "same output as before" : "output differs from before"})`;
    return { text, pictures: picturesOf(block, outputUri(id, index)) };
  });
  const failed = result.entries.some(({ block }) => block.status !== "ok");
  const text = cutText([{ text: parts.map((part) => part.text).join("\n\n"), dropped: 0 }], {
    maxChars: replyChars,
  }).text;
  const pictures = parts.flatMap((part) => part.pictures);
  const shown = withinChars(pictures, MAX_RERUN_IMAGE_CHARS);
  const left = pictures.length - shown.length;
  const links = fileLinks(id, result.entries);
  const more = left > 0 ? [`${left} pictures are left out: run their blocks alone, or use export_history`] : [];
  return {
    content: [{ type: "text", text: [text, summaryOf(result), ...more].join("\n\n") }, ...shown, ...links],
    ...structured(settings, () => ({
      status: failed ? "error" : "ok",
      session_id: id,
      blocks: result.entries.map(({ block, index, same }, at) => ({
        index,
        ...blockFacts(id, block, { ...settings, maxFiles, replyChars: Math.min(4000, Math.max(200, share)) }),
        pictures: parts[at]?.pictures.length ?? 0,
        same_output: same,
      })),
      not_run: result.notRun,
    })),
    ...(failed ? { isError: true } : {}),
  };
}

/** The first pictures, up to so many characters together. */
function withinChars(pictures: readonly ContentBlock[], maxChars: number): readonly ContentBlock[] {
  let chars = 0;
  const full = pictures.findIndex((picture) => {
    chars += JSON.stringify(picture).length;
    return chars > maxChars;
  });
  return full < 0 ? pictures : pictures.slice(0, full);
}

function summaryOf({ entries, notRun, kernelAlive }: RerunResult): string {
  const ok = entries.filter(({ block }) => block.status === "ok").length;
  const changed = entries.filter(({ same }) => !same).length;
  const parts = [`Ran ${entries.length} blocks in a fresh interpreter: ${ok} succeeded, ${changed} with other output`];
  if (notRun > 0) parts.push(`${notRun} were not run`);
  if (!kernelAlive) parts.push("variables are lost because the interpreter ended with the last of them");
  return parts.join("; ");
}

export function historyReply(id: string, history: History, settings: ReplySettings): CallToolResult {
  const { entries, total } = history;
  const text = renderTranscript(
    entries.map(({ block, index }) => ({ block, number: index + 1 })),
    {
      maxChars: settings.replyChars,
      totalChars: settings.replyChars,
      link: (index: number) => outputUri(id, index),
    },
  );
  const gone = notInMemory(history);
  return {
    content: [{ type: "text", text: gone && text ? `${text}\n\n${gone}` : text }],
    ...structured(settings, () => ({
      status: "ok",
      session_id: id,
      total,
      blocks: entries.map(({ block, index, inMemory }) => ({
        index,
        kind: block.kind,
        status: block.status,
        in_memory: inMemory,
        started_at: block.startedAt,
        duration_ms: block.durationMs,
      })),
    })),
  };
}

/** One line that names the blocks whose variables are not part of the present state. */
function notInMemory({ entries }: History): string | undefined {
  const gone = entries.filter(({ inMemory, block }) => !inMemory && block.status !== "running");
  if (gone.length === 0) return undefined;
  const ranges: [number, number][] = [];
  for (const { index } of gone) {
    const last = ranges.at(-1);
    if (last && last[1] === index) last[1] += 1;
    else ranges.push([index + 1, index + 1]);
  }
  const named = ranges.map(([a, b]) => (a === b ? `[${a}]` : `[${a}]-[${b}]`)).join(", ");
  return `(not in memory: ${named}; rerun_code restores them)`;
}
