import assert from "node:assert/strict";
import { until } from "../helpers/process.ts";
import type { CallOptions, Leg, ReplClient, ToolReply } from "./client.ts";

/** What a check works with. Sessions are its own, so checks may run at the same time. */
export type World = {
  readonly client: ReplClient;
  readonly leg: Leg;
  /** One more connection to the same server, closed after the check. Only where `needs` is `network`. */
  another(): Promise<ReplClient>;
  /** Creates a session, deleted after the check. */
  session(args?: Readonly<Record<string, unknown>>): Promise<TestSession>;
  /** A session id nobody has used. */
  freshId(): string;
};

/** One thing that must hold for every client over every transport. `needs` is the only way to skip. */
export type Check = {
  readonly id: string;
  /** `network`: one server serves several connections; over stdio each has its own. */
  readonly needs?: "network";
  readonly run: (world: World) => Promise<void>;
};

/** A session and the calls made on it. */
export type TestSession = {
  readonly id: string;
  run(code: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolReply>;
  call(tool: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolReply>;
};

export function sessionOf(client: ReplClient, id: string): TestSession {
  return {
    id,
    run: (code, args = {}, options = {}) => client.call("run_code", { session_id: id, code, ...args }, options),
    call: (tool, args = {}, options = {}) => client.call(tool, { session_id: id, ...args }, options),
  };
}

/** The reply went well and its text is exactly `text`. */
export function assertText(reply: ToolReply, text: string): void {
  assert.equal(reply.text, text);
  assert.equal(reply.isError, false);
}

/** The call was refused with `code` and one sentence that names each of `mentions`. */
export function assertRefused(reply: ToolReply, code: string, ...mentions: string[]): void {
  assert.equal(reply.structured.code, code, reply.text);
  assert.equal(reply.isError, true);
  const told = JSON.parse(reply.text) as { status: string; code: string; message: string };
  assert.deepEqual(told, { status: "error", code, message: reply.structured.message });
  assert.ok(told.message.length > 10 && told.message.length < 600, `A sentence, not ${told.message.length} characters`);
  for (const mention of mentions) assert.ok(told.message.includes(mention), `${told.message} names ${mention}`);
}

export type BlockFacts = { readonly index: number; readonly status: string; readonly in_memory: boolean };

/** The facts of a session's blocks, oldest first. */
export async function blocksOf(session: TestSession): Promise<readonly BlockFacts[]> {
  const { structured } = await session.call("get_history");
  return structured.blocks as BlockFacts[];
}

/** Waits until block `index` has ended; running blocks are part of the history. */
export function untilEnded(session: TestSession, index: number, limitMs?: number): Promise<BlockFacts> {
  return until(
    async () => {
      const block = (await blocksOf(session))[index];
      return block && block.status !== "running" ? block : undefined;
    },
    `block ${index} of ${session.id} to end`,
    limitMs,
  );
}

export type SessionFacts = {
  readonly session_id: string;
  readonly history_count: number;
  readonly alive: boolean;
  readonly busy: boolean;
};

/** What list_sessions says about one session; undefined when it is not there. */
export async function listed(client: ReplClient, id: string): Promise<SessionFacts | undefined> {
  const { structured } = await client.call("list_sessions");
  return (structured.sessions as SessionFacts[]).find(({ session_id }) => session_id === id);
}
