import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Backend } from "../../src/core/backend.ts";
import type { Output } from "../../src/core/execution.ts";
import { BACKEND_CHECKS } from "./backend-checks.ts";
import { runCheck } from "./backend-run.ts";
import type { BackendCheck } from "./backend-steps.ts";

const LIMIT_MS = 60_000;

/**
 * Registers the backend contract with node:test.
 * @param make Called once; the backend is closed at the end.
 */
export function runBackendContract(
  name: string,
  make: () => Promise<Backend> | Backend,
  options: { readonly only?: readonly string[]; readonly limitMs?: number } = {},
): void {
  const limitMs = options.limitMs ?? LIMIT_MS;
  describe(`backend contract: ${name}`, () => {
    let backend: Backend | undefined;
    before(async () => {
      backend = await make();
    });
    after(async () => {
      await backend?.close();
    });
    for (const check of BACKEND_CHECKS) {
      if (options.only && !options.only.includes(check.id)) continue;
      // Some runtimes have a limit of their own, which is too low for the largest outputs.
      test(check.id, { timeout: 2 * limitMs }, async (context) => {
        assert.ok(backend, "The backend could not be made");
        const missing = await missingNeed(backend, check);
        if (missing !== undefined) return context.skip(missing);
        await runCheck(backend, check, limitMs);
      });
    }
    test("close is idempotent, and nothing starts afterwards", async () => {
      assert.ok(backend);
      await Promise.all([backend.close(), backend.close()]);
      const options = { owner: "contract", sessionId: "closed", epoch: 1, packages: [] };
      await assert.rejects(backend.startKernel(options), { code: "BACKEND_UNAVAILABLE" });
    });
  });
}

/** Why a backend may skip a check; undefined when it may not. */
export async function missingNeed(backend: Backend, check: BackendCheck): Promise<string | undefined> {
  const flag = check.needs?.find((need) => !backend.supports[need]);
  if (flag !== undefined) return `needs ${flag}`;
  if (check.python && !(await isTrue(backend, `import sys; sys.version_info[:2] >= ${toTuple(check.python)}`))) {
    return `needs Python ${check.python}`;
  }
  for (const name of check.modules ?? []) {
    const code = `import importlib.util; importlib.util.find_spec('${name}') is not None`;
    if (!(await isTrue(backend, code))) return `needs the module ${name}`;
  }
  return undefined;
}

function toTuple(version: string): string {
  return `(${version.split(".").join(", ")})`;
}

async function isTrue(backend: Backend, code: string): Promise<boolean> {
  const kernel = await backend.startKernel({ owner: "contract", sessionId: "needs", epoch: 1, packages: [] });
  const outputs: Output[] = [];
  try {
    const onOutput = (output: Output): void => void outputs.push(output);
    await kernel.execute({ code, number: 1 }, { signal: new AbortController().signal, onOutput });
  } finally {
    await kernel.shutdown();
  }
  return outputs.some((output) => output.type === "execute_result" && output.data["text/plain"] === "True");
}
