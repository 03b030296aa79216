import { createE2bBackend } from "../../src/backends/e2b/backend.ts";
import type { Kernel } from "../../src/core/backend.ts";
import type { BenchContext } from "./bench.ts";
import type { StandInProcess } from "./stand-in.ts";

/** A kernel of the E2B backend in this process, so that nothing but the backend is measured; ended with the bench. */
export async function startE2bKernel(context: BenchContext, standIn: StandInProcess): Promise<Kernel> {
  const { apiKey, apiUrl, sandboxUrl } = standIn;
  const backend = createE2bBackend({ apiKey, apiUrl, sandboxUrl });
  const kernel = await backend.startKernel({ owner: "bench", sessionId: "s", epoch: 1, packages: [] });
  context.defer(() => kernel.shutdown());
  return kernel;
}

/** Runs a cell. @throws Error unless it ends well. */
export async function runCell(kernel: Kernel, code: string, number: number): Promise<void> {
  const { signal } = new AbortController();
  const reply = await kernel.execute({ code, number }, { signal, timeoutMs: 60_000, onOutput: () => undefined });
  if (reply.status !== "ok") throw new Error(`The cell ended as ${JSON.stringify(reply)}`);
}
