import * as z from "zod";
import { MAX_CHANGED, MAX_PATH_CHARS } from "../core/changed-files.ts";
import type { Block, SessionRecord } from "../core/session.ts";
import { isSegment } from "./keys.ts";
import { areRanges } from "./ranges.ts";

/**
 * What stored values must look like before the rest of the program trusts them: a store can be edited by hand, or be
 * written by another version. Unknown fields are kept. Each check returns undefined, or why the value is refused.
 */

/** How many blocks a session may ever have: above the largest real one, below what could exhaust memory. */
export const MAX_SEQUENCES = 1_000_000;

const text = z.string();
const count = z.int().nonnegative();
const sequences = count.max(MAX_SEQUENCES);
const amount = z.number().nonnegative();

const output = z.union([
  z.looseObject({
    type: z.literal("stream"),
    name: z.enum(["stdout", "stderr"]),
    text,
    late: z.boolean().optional(),
    dropped: z.number().optional(),
  }),
  z.looseObject({ type: z.enum(["display_data", "execute_result"]), data: z.record(text, text) }),
]);

const filePath = text.min(1).max(MAX_PATH_CHARS);
const files = z.looseObject({
  folder: filePath,
  changed: z.array(z.looseObject({ path: filePath, size: count })).max(MAX_CHANGED),
  more: count,
});

const block = z.looseObject({
  sequence: sequences,
  kind: z.enum(["code", "file"]),
  code: text,
  path: text.optional(),
  status: z.enum(["running", "ok", "error", "timeout", "cancelled", "died", "interrupted"]),
  outputs: z.array(output),
  error: z.looseObject({ name: text, message: text, traceback: text }).nullable(),
  state: z.enum(["kept", "lost"]),
  note: text.optional(),
  epoch: count,
  startedAt: amount,
  durationMs: amount,
  truncatedChars: count,
  files: files.optional(),
  by: text.optional(),
});

const session = z
  .looseObject({
    id: text,
    createdAt: amount,
    lastUsedAt: amount,
    cwd: text.nullable(),
    backend: text,
    recovery: z.enum(["fresh", "replay"]).nullable(),
    kernelRef: z.record(text, z.unknown()).nullable(),
    epoch: count,
    resetEpoch: count.optional(),
    nextSequence: sequences,
    live: z.array(z.tuple([count, count])),
    pending: block.nullable(),
    lost: text.nullable(),
    historyChars: amount.optional(),
  })
  .refine((record) => areRanges(record.live, record.nextSequence), {
    path: ["live"],
    error: "Not ascending ranges below nextSequence",
  });

/** Stands in the place of a session's record while its blocks are being removed. */
const tombstone = z.strictObject({ removed: z.literal(true), nextSequence: sequences });
const index = z.strictObject({ ids: z.array(text.refine(isSegment, "It can be no id")) });
const packages = z.strictObject({ requirements: z.array(text) });
const usage = z.strictObject({ day: count, used: amount });

export type Tombstone = z.infer<typeof tombstone>;
export type SessionIndex = z.infer<typeof index>;
export type Packages = z.infer<typeof packages>;
/** `day`: days since 1970; `used`: minutes. */
export type Usage = z.infer<typeof usage>;

/** A check that tells the type; the value itself is neither copied nor changed. */
export type Check<T> = (value: unknown) => { readonly value: T } | { readonly reason: string };

export const checkBlock: Check<Block> = checker<Block>(block);
export const checkSession: Check<SessionRecord> = checker<SessionRecord>(session);
export const checkTombstone: Check<Tombstone> = checker<Tombstone>(tombstone);
export const checkIndex: Check<SessionIndex> = checker<SessionIndex>(index);
export const checkPackages: Check<Packages> = checker<Packages>(packages);
export const checkUsage: Check<Usage> = checker<Usage>(usage);

function checker<T>(schema: z.ZodType): Check<T> {
  return (value) => {
    const result = schema.safeParse(value);
    if (result.success) return { value: value as T };
    const issue = result.error.issues[0];
    const place = issue?.path.map(String).join(".");
    return { reason: `${place === "" ? "" : `${place}: `}${issue?.message ?? "it does not fit"}` };
  };
}
