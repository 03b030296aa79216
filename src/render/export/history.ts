import type { Entry } from "../transcript.ts";

/** What is exported: some or all blocks of a session. */
export type ExportedHistory = {
  readonly sessionId: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly backend: string;
  readonly entries: readonly Entry[];
};

/** @returns `2026-12-01 10:22 UTC` for Unix seconds; empty for a time that is none. */
export function timeOf(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? "" : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
