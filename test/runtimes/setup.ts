import { until } from "../helpers/process.ts";
import { sessionOf, type TestSession } from "../http/check.ts";
import type { Leg, ReplClient, ToolReply } from "../http/client.ts";
import { V1_LEGS } from "../http/client-v1.ts";
import { V2_LEGS } from "../http/client-v2.ts";

const LEGS = [...V2_LEGS, ...V1_LEGS];

/** The client of `name`, such as `v2 client of 2026 over Streamable HTTP`. */
export function legOf(transport: Leg["transport"], era: Leg["era"], library: "v1" | "v2" = "v2"): Leg {
  const found = LEGS.find((leg) => leg.transport === transport && leg.era === era && leg.name.startsWith(library));
  if (!found) throw new Error(`There is no ${library} client of ${era} over ${transport}`);
  return found;
}

export const MODERN = legOf("Streamable HTTP", "2026");
export const LEGACY = legOf("Streamable HTTP", "2025", "v1");
export const SSE = legOf("HTTP+SSE", "2025", "v1");

/** Settings that aim a server at a stand-in of E2B. */
export function e2bSettings(standIn: {
  readonly apiKey: string;
  readonly apiUrl: string;
  readonly sandboxUrl: string;
}): Record<string, string> {
  const { apiKey, apiUrl, sandboxUrl } = standIn;
  return { REPL_BACKEND: "e2b", E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl };
}

export async function newSession(client: ReplClient, session_id: string): Promise<TestSession> {
  const { isError, text } = await client.call("create_session", { session_id });
  if (isError) throw new Error(`No session was created: ${text}`);
  return sessionOf(client, session_id);
}

/** Code that prints that it runs, sets a variable, and would go on for a minute. */
export const LONG = "import time\nprint('started', flush=True)\nmark = 1\ntime.sleep(60)\nmark = 2";

/** Starts a run and waits until its code runs; how it ends, a protocol error included, is `reply`. */
export async function startLong(
  session: TestSession,
  signal?: AbortSignal,
): Promise<{ readonly reply: Promise<ToolReply | Error> }> {
  let seen = "";
  const onProgress = (message: string): void => {
    seen += message;
  };
  const reply = session
    .run(LONG, {}, { onProgress, ...(signal ? { signal } : {}) })
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  await until(() => seen.includes("started"), `the code of ${session.id} to run`);
  return { reply };
}
