import { ENVD_PORT, JUPYTER_PORT } from "./address.ts";
import { startProcess } from "./process.ts";
import type { KernelFacts } from "./ref.ts";
import { type RemoteSandbox, sleep } from "./sandbox.ts";

/** Between two interrupts of code that goes on. */
const AGAIN_MS = 400;
const REQUEST_MS = 1_500;

/**
 * Interrupts the running cell again and again until `stopped` fires: through the Jupyter server, which signals the
 * kernel's whole process group, and where that cannot be reached by a signal from a process in the sandbox.
 * Resolves when no interrupt of ours is under way any more. Never rejects.
 */
export async function interruptUntil(sandbox: RemoteSandbox, facts: KernelFacts, stopped: AbortSignal): Promise<void> {
  let byJupyter = true;
  while (!stopped.aborted) {
    if (byJupyter) byJupyter = await throughJupyter(sandbox, facts);
    if (!byJupyter && !stopped.aborted) await bySignal(sandbox, facts);
    await sleep(AGAIN_MS, stopped);
  }
}

async function throughJupyter(sandbox: RemoteSandbox, facts: KernelFacts): Promise<boolean> {
  try {
    const response = await sandbox.fetch({
      port: JUPYTER_PORT,
      method: "POST",
      path: `/api/kernels/${encodeURIComponent(facts.kernel)}/interrupt`,
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // the other way is tried
  }
}

/** The bracket keeps the command from finding itself. */
async function bySignal(sandbox: RemoteSandbox, facts: KernelFacts): Promise<void> {
  const pattern = `[k]ernel-${facts.kernel}[.]json`;
  try {
    const signal = AbortSignal.timeout(REQUEST_MS);
    await startProcess(sandbox, { cmd: "pkill", args: ["-INT", "-f", pattern], user: "root", signal });
  } catch (error) {
    sandbox.settings.log(`An interrupt through port ${ENVD_PORT} failed: ${String(error)}`);
  }
}
