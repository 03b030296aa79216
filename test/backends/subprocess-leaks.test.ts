import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { execute, isAlive, makeTestBackend, monitors, run, startKernel, until } from "./subprocess-setup.ts";

const AT_ONCE = 5;

/** What must be the same before and after: open descriptors, child processes, timers and handles of the event loop. */
function resources() {
  const active = process.getActiveResourcesInfo();
  return {
    descriptors: readdirSync("/proc/self/fd").length,
    monitors: monitors().length,
    timers: active.filter((name) => name === "Timeout").length,
    pipes: active.filter((name) => name.startsWith("Pipe") || name.startsWith("Process")).length,
  };
}

async function useKernels(test: Awaited<ReturnType<typeof makeTestBackend>>): Promise<number[]> {
  const kernels = await Promise.all(Array.from({ length: AT_ONCE }, () => startKernel(test.backend)));
  const [first, second] = kernels;
  const pids = kernels.map((kernel) => Number(kernel.ref.pid));
  await Promise.all(kernels.map((kernel) => run(kernel, "print('x' * 1000)")));
  if (first) await run(first, "import time; time.sleep(60)", AbortSignal.timeout(50));
  if (second) await run(second, "import os; os._exit(1)");
  await Promise.all(kernels.map((kernel) => kernel.shutdown()));
  return pids;
}

test("30 kernels that were made and shut down leave nothing behind", async () => {
  const setup = await makeTestBackend();
  const { pipes } = resources();
  // The first kernels open what a process opens once.
  const pids = await useKernels(setup);
  await until(() => resources().pipes === pipes, "the end of the first monitors");
  const before = resources();
  for (let round = 0; round < 30 / AT_ONCE; round += 1) pids.push(...(await useKernels(setup)));
  await until(() => JSON.stringify(resources()) === JSON.stringify(before), `${JSON.stringify(before)} again`);
  await until(() => !pids.some(isAlive), "the end of all kernels", 1000);
  await setup.cleanUp();
});

test("a signal that outlives its cells keeps no listener", async () => {
  const { backend, cleanUp } = await makeTestBackend();
  const kernel = await startKernel(backend);
  let listeners = 0;
  const { signal } = new AbortController();
  const counted = new Proxy(signal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name === "addEventListener") listeners += 1;
      if (name === "removeEventListener") listeners -= 1;
      return value.bind(target);
    },
  });
  for (let n = 0; n < 3; n += 1) await run(kernel, "1", counted);
  assert.equal(listeners, 0);
  await cleanUp();
});

test("an idle kernel does not keep its server alive, and ends with it", async () => {
  const program = fileURLToPath(new URL("./subprocess-abandon.ts", import.meta.url));
  const { stdout } = await execute(process.execPath, [...process.execArgv.filter((arg) => arg !== "--test"), program], {
    timeout: 20_000,
  });
  const pid = Number(stdout);
  assert.ok(pid > 0, stdout);
  await until(() => !isAlive(pid), "the end of the kernel");
});
