import type { Block } from "../core/session.ts";
import { renderBlockHtml } from "../render/html/index.ts";
import type { Caller } from "../sessions/context.ts";
import type { History, HistoryEntry } from "../sessions/history.ts";
import type { SessionService } from "../sessions/service.ts";
import { blockMenu } from "./block-menu.tsx";
import { clipBlock } from "./clip.ts";
import { fingerprint } from "./fingerprint.ts";

/** Blocks on a page, unless they are very large; older ones are behind a link. */
const PAGE_BLOCKS = 50;
/** Blocks that a page which stays open may grow to. */
const OPEN_PAGE_BLOCKS = 100;
/** Blocks are read in groups of so many, until the page has enough. */
const STEP = 5;
/** Characters of output after which no further block is read, pictures included: they pass through memory. */
const ENOUGH_CHARS = 4 * 1024 * 1024;

/** Some blocks of a session, up to the position `to`. */
export type Window = Pick<History, "record" | "total" | "entries"> & { readonly from: number; readonly to: number };

/**
 * Reads the blocks before the position `before`, by default the newest ones, from their end.
 * @param from Position at which to stop reading backwards, for a page that is open already.
 */
export async function readWindow(
  service: SessionService,
  caller: Caller,
  id: string,
  { before, from }: { readonly before?: number | undefined; readonly from?: number | undefined },
): Promise<Window> {
  const { record, total } = await service.history(caller, id, { start: 0, end: 0 });
  const to = Math.min(before ?? total, total);
  const least = Math.max(0, from === undefined ? to - PAGE_BLOCKS : Math.max(from, to - OPEN_PAGE_BLOCKS));
  let start = to;
  let chars = 0;
  const entries: HistoryEntry[] = [];
  while (start > least && chars < ENOUGH_CHARS) {
    const end = start;
    start = Math.max(least, start - STEP);
    const group = await service.history(caller, id, { start, end });
    entries.unshift(...group.entries);
    for (const { block } of group.entries) chars += sizeOf(block);
  }
  return { record, total, entries, from: start, to };
}

/** One thing on a page that can change by itself: its name, its version and how it looks. */
export type Item = { readonly key: string; readonly version: string; readonly html?: string };

/**
 * @param known Versions that the page has, by key: what has not changed is not rendered.
 * @param canRun Shows what a caller may do with a block.
 */
export function viewBlocks(
  id: string,
  entries: readonly HistoryEntry[],
  canRun: boolean,
  known: ReadonlyMap<string, string> = new Map(),
): Item[] {
  return entries.map((entry) => {
    const key = String(entry.block.sequence);
    const version = versionOf(entry, canRun);
    return known.get(key) === version ? { key, version } : { key, version, html: viewBlock(id, entry, canRun) };
  });
}

function viewBlock(id: string, { block, index, inMemory }: HistoryEntry, canRun: boolean): string {
  const number = index + 1;
  const address = blockPath(id, block.sequence);
  const shown = clipBlock(block);
  // A block that runs again keeps its sequence, but its pictures are others.
  const version = Math.round(block.startedAt * 1000);
  return renderBlockHtml(
    { number, block: shown },
    {
      ...(block.status === "running" ? {} : { inMemory }),
      pictureUrl: (position) => `${address}/pictures/${displaysBefore(shown, position)}?v=${version}`,
      actions: blockMenu({ number, block, session: `/s/${id}`, address, canRun }),
    },
  );
}

/** The address of a block, which stays when blocks before it are deleted. */
export function blockPath(id: string, sequence: number): string {
  return `/s/${id}/blocks/${sequence}`;
}

function displaysBefore({ outputs }: Block, position: number): number {
  return outputs.slice(0, position).filter(({ type }) => type !== "stream").length;
}

/** Everything that shows, as far as it can change. */
function versionOf({ block, index, inMemory }: HistoryEntry, canRun: boolean): string {
  const { status, startedAt, durationMs, truncatedChars, note, outputs, code } = block;
  const size = sizeOf(block);
  const parts = [
    index,
    status,
    inMemory,
    startedAt,
    durationMs,
    truncatedChars,
    note,
    outputs.length,
    size,
    code.length,
  ];
  return fingerprint(JSON.stringify([...parts, canRun]));
}

function sizeOf({ code, outputs }: Block): number {
  let size = code.length;
  for (const output of outputs) {
    if (output.type === "stream") size += output.text.length;
    else for (const content of Object.values(output.data)) size += content.length;
  }
  return size;
}
