import { ENVD_PORT } from "./address.ts";
import { userHeader } from "./process.ts";
import type { KernelFacts } from "./ref.ts";
import { type RemoteSandbox, sleep } from "./sandbox.ts";

const UNKNOWN = "ended for an unknown reason";
const ATTEMPTS = 4;
const PAUSE_MS = 150;

/** How the kernel ended, in a few words: what the watcher beside it wrote down. Never rejects. */
export async function deathOf(sandbox: RemoteSandbox, facts: KernelFacts): Promise<string> {
  const path = `/files?path=${encodeURIComponent(facts.deathNote)}&username=${encodeURIComponent(facts.user)}`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (attempt > 0) await sleep(PAUSE_MS);
    try {
      const signal = AbortSignal.timeout(3_000);
      const response = await sandbox.fetch({
        port: ENVD_PORT,
        method: "GET",
        path,
        headers: userHeader(facts.user),
        signal,
      });
      const text = await response.text();
      if (response.ok && text.length < 200) return text;
    } catch (error) {
      sandbox.settings.log(`The cause of a kernel's end could not be read: ${String(error)}`);
    }
  }
  return UNKNOWN;
}
