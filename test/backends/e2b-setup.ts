import { createE2bBackend, type E2bOptions } from "../../src/backends/e2b/backend.ts";
import type { Backend, Kernel, KernelOptions } from "../../src/core/backend.ts";
import type { ExecutionReply, Output } from "../../src/core/execution.ts";
import type { StandIn } from "../e2b/stand-in.ts";

/** What a cell brought. */
export type Ran = {
  readonly reply: ExecutionReply;
  readonly outputs: readonly Output[];
  readonly stdout: string;
  /** Text of the value. */
  readonly value: string | undefined;
};

export function optionsOf(standIn: StandIn, more: Partial<E2bOptions> = {}): E2bOptions {
  const { apiKey, apiUrl, sandboxUrl } = standIn;
  return { apiKey, apiUrl, sandboxUrl, ...more };
}

export function backendOf(standIn: StandIn, more: Partial<E2bOptions> = {}): Backend {
  return createE2bBackend(optionsOf(standIn, more));
}

export function kernelOptions(more: Partial<KernelOptions> = {}): KernelOptions {
  return { owner: "owner", sessionId: "session", epoch: 1, packages: [], ...more };
}

export type RunOptions = {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onOutput?: (output: Output) => void;
};

let number = 0;

export async function runCell(kernel: Kernel, code: string, options: RunOptions = {}): Promise<Ran> {
  const outputs: Output[] = [];
  number += 1;
  const { signal = new AbortController().signal, timeoutMs = 20_000, onOutput = () => undefined } = options;
  const reply = await kernel.execute(
    { code, number },
    {
      signal,
      timeoutMs,
      onOutput: (output) => {
        outputs.push(output);
        onOutput(output);
      },
    },
  );
  let stdout = "";
  let value: string | undefined;
  for (const output of outputs) {
    if (output.type === "stream" && output.name === "stdout") stdout += output.text;
    if (output.type === "execute_result") value = output.data["text/plain"];
  }
  return { reply, outputs, stdout, value };
}

/** The requests that reached the service since `standIn.clearLog()`, in short. */
export function requests(standIn: StandIn): string[] {
  return standIn.log().map(({ plane, port, method, path }) => {
    const shown = path.replace(/i[0-9a-f]{20}/, "ID").replace(/kernels\/[^/]+/, "kernels/ID");
    return plane === "control" ? `${method} ${shown}` : `${method} ${port}${shown}`;
  });
}
