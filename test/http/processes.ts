import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive, until } from "../helpers/process.ts";
import { sessionOf, type TestSession } from "./check.ts";
import type { Leg, ReplClient, Target } from "./client.ts";
import { V2_LEGS } from "./client-v2.ts";

/** What the tests of whole processes share: folders, clients, and Python code that tells which processes it is. */

/** What is to be tidied up after a test; `{ after }` of `node:test` after a suite. */
type Scope = { after(task: () => unknown): void };

/** An empty folder, removed after the test. */
export async function temporaryFolder(context: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "edge-repl-test-"));
  context.after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

const [MODERN_HTTP] = V2_LEGS.filter(({ transport, era }) => transport === "Streamable HTTP" && era === "2026");

/** A client of the newest revision, closed after the test. */
export async function connect(context: Scope, target: Target, leg: Leg | undefined = MODERN_HTTP): Promise<ReplClient> {
  if (!leg) throw new Error("No such client");
  const client = await leg.connect(target);
  context.after(() => client.close());
  return client;
}

export async function createSession(client: ReplClient, session_id: string): Promise<TestSession> {
  const { isError, text } = await client.call("create_session", { session_id });
  if (isError) throw new Error(text);
  return sessionOf(client, session_id);
}

/** Writes the ids of itself and of two children, one that left the process group, into `file`; then runs `then`. */
function spawning(file: string, then: string): string {
  return `
import os, signal, subprocess, time
_one = subprocess.Popen(["sleep", "300"])
_two = subprocess.Popen(["sleep", "300"], start_new_session=True)
with open(${JSON.stringify(`${file}.new`)}, "w") as _f:
    _f.write(f"{os.getpid()} {os.getppid()} {_one.pid} {_two.pid}")
os.rename(${JSON.stringify(`${file}.new`)}, ${JSON.stringify(file)})
${then}
`;
}

/** What code does that a server which ends has to stop. */
export const BUSY: Readonly<Record<string, string>> = {
  "code that sleeps": "time.sleep(300)",
  "code that ignores interrupts": `
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    pass`,
  "no code at all": "",
};

/**
 * Starts `then` in a session and waits until it runs.
 * @returns The ids of the kernel, its parent, and the children of user code.
 */
export async function startProcesses(session: TestSession, folder: string, then: string): Promise<number[]> {
  const file = join(folder, `pids-${session.id}`);
  const reply = session.run(spawning(file, then)).catch(() => undefined); // The server ends before it answers.
  if (then === "") await reply;
  const text = await until(() => readFile(file, "utf8").catch(() => undefined), `${session.id} to start its processes`);
  return text.split(" ").map(Number);
}

/** Waits until none of the processes is there. @throws Error that names those that are, which are then killed. */
export async function untilGone(pids: readonly number[], limitMs: number): Promise<void> {
  const left = (): number[] => pids.filter(isAlive);
  await until(() => left().length === 0, "processes to end", limitMs).catch(() => undefined);
  const alive = left();
  for (const pid of alive) process.kill(pid, "SIGKILL");
  if (alive.length > 0) throw new Error(`Processes ${alive.join(", ")} of ${pids.join(", ")} are left`);
}
