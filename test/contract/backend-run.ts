import assert from "node:assert/strict";
import type { Backend, Kernel, KernelOptions } from "../../src/core/backend.ts";
import { AppError, type ErrorCode } from "../../src/core/errors.ts";
import type { Output } from "../../src/core/execution.ts";
import { compareOutputs, compareReply } from "./backend-compare.ts";
import type {
  BackendCheck,
  CellStep,
  InstallStep,
  ListStep,
  ReadStep,
  ShutdownStep,
  StartStep,
  Step,
  TogetherStep,
  WriteStep,
} from "./backend-steps.ts";

const DEFAULT_LIMIT = 1024 * 1024;
const POLL_MS = 20;
const AWAIT_MS = 20_000;

type Place = { readonly name: string; number: number; readonly kernel: Kernel };

/**
 * Runs the steps of a check in fresh kernels and ends them.
 * @param limitMs For the check as a whole.
 * @throws AssertionError that names the step at which the backend broke the contract.
 */
export async function runCheck(backend: Backend, check: BackendCheck, limitMs: number): Promise<void> {
  const run = new CheckRun(backend, check);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `No end of ${run.at()}` })), limitMs);
  });
  try {
    await Promise.race([run.all(), limit]);
  } finally {
    clearTimeout(timer);
    await run.close();
  }
}

class CheckRun {
  readonly #backend: Backend;
  readonly #check: BackendCheck;
  readonly #places = new Map<string, Place>();
  #step = 0;
  #late: Output[] = [];

  constructor(backend: Backend, check: BackendCheck) {
    this.#backend = backend;
    this.#check = check;
  }

  at(): string {
    const step = this.#check.steps[this.#step];
    return `step ${this.#step + 1} of ${this.#check.id}: ${JSON.stringify(step).slice(0, 300)}`;
  }

  async all(): Promise<void> {
    for (const [index, step] of this.#check.steps.entries()) {
      this.#step = index;
      await this.#tell(() => this.#run(step));
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
    await this.#tell(async () => assert.deepEqual(this.#late, [], "Output came after its reply"));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#places.values()].map(({ kernel }) => kernel.shutdown()));
  }

  async #tell(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new assert.AssertionError({ message: `${message}\nin ${this.at()}` });
    }
  }

  async #run(step: Step): Promise<void> {
    if ("start" in step) return this.#start(step);
    if ("together" in step) return this.#together(step);
    const place = await this.#place(step.on);
    if ("run" in step) return this.#cell(place, step);
    if ("shutdown" in step) return shutdown(place.kernel, step);
    if ("write" in step) return write(place.kernel, step);
    if ("read" in step) return read(place.kernel, step);
    if ("list" in step) return list(place.kernel, step);
    if ("install" in step) return install(place.kernel, step);
    return awaitFile(place.kernel, step.awaitFile);
  }

  async #start(step: StartStep): Promise<void> {
    await expectRefusal(step.refused, () => this.#place(step.on, step.start.cwd));
  }

  async #together(step: TogetherStep): Promise<void> {
    const places = await Promise.all(step.together.map((cell) => this.#place(cell.on)));
    const from = performance.now();
    await Promise.all(places.map((place, index) => this.#cell(place, step.together[index] ?? assert.fail())));
    const took = performance.now() - from;
    assert.ok(took <= step.withinMs, `Together they took ${Math.round(took)} ms`);
  }

  async #place(name = "main", cwd?: string): Promise<Place> {
    const present = this.#places.get(name);
    if (present) return present;
    const sessionId = `${this.#check.id}-${name}`;
    const options: KernelOptions = { owner: "contract", sessionId, epoch: 1, packages: [] };
    const kernel = await this.#backend.startKernel(cwd === undefined ? options : { ...options, cwd });
    const place = { name, number: 0, kernel };
    this.#places.set(name, place);
    return place;
  }

  async #cell(place: Place, step: CellStep): Promise<void> {
    const { kernel } = place;
    const controller = new AbortController();
    const outputs: Output[] = [];
    let from = performance.now();
    const stopping: Promise<void>[] = [];
    let settled = false;
    const stop = (): void => {
      from = performance.now();
      if (step.stop?.at === "output" && step.stop.by === "shutdown") stopping.push(kernel.shutdown());
      else controller.abort();
    };
    const onOutput = (output: Output): void => {
      if (settled) this.#late.push(output);
      else outputs.push(output);
      if (step.stop?.at === "output" && hasText(outputs, step.stop.text)) stop();
    };
    if (step.stop?.at === "start") stop();
    place.number += 1;
    const cell = { code: step.run, number: place.number, ...(step.path === undefined ? {} : { path: step.path }) };
    await expectRefusal(step.refused, async () => {
      const executing = kernel.execute(cell, { signal: controller.signal, onOutput });
      if (step.stop?.at === "file") void awaitFile(kernel, step.stop.path).then(stop, stop);
      const reply = await executing;
      settled = true;
      const took = performance.now() - from;
      await Promise.all(stopping);
      if (step.stop?.at === "end") controller.abort();
      if (step.refused) return;
      compareReply(reply, step);
      compareOutputs(outputs, step);
      assert.ok(took <= (step.withinMs ?? Number.POSITIVE_INFINITY), `It took ${Math.round(took)} ms`);
    });
  }
}

function hasText(outputs: readonly Output[], wanted: string): boolean {
  return outputs.some((output) => output.type === "stream" && output.text.includes(wanted));
}

async function shutdown(kernel: Kernel, step: ShutdownStep): Promise<void> {
  await Promise.all(step.shutdown === "twice" ? [kernel.shutdown(), kernel.shutdown()] : [kernel.shutdown()]);
}

async function write(kernel: Kernel, step: WriteStep): Promise<void> {
  await expectRefusal(step.refused, async () => {
    const reply = await kernel.files.write(step.write, toBytes(step.data));
    assert.match(reply.path, /^\//, "The path is not absolute");
    if (step.replaced !== undefined) assert.equal(reply.replaced, step.replaced, "replaced is wrong");
  });
}

async function read(kernel: Kernel, step: ReadStep): Promise<void> {
  await expectRefusal(step.refused, async () => {
    const reply = await kernel.files.read(step.read, step.limit ?? DEFAULT_LIMIT);
    assert.match(reply.path, /^\//, "The path is not absolute");
    if (step.data !== undefined) assert.deepEqual(new Uint8Array(reply.data), toBytes(step.data));
  });
}

async function list(kernel: Kernel, step: ListStep): Promise<void> {
  await expectRefusal(step.refused, async () => {
    const entries = await kernel.files.list(step.list, step.limit ?? 1000);
    const now = Date.now() / 1000;
    for (const { path, name, kind, modified } of entries) {
      assert.match(path, /^\//, "The path is not absolute");
      assert.ok(path.endsWith(`/${name}`), `${path} does not end in ${name}`);
      if (kind !== "other")
        assert.ok(Math.abs(now - modified) < 3600, `${name} was modified at ${modified}, now ${now}`);
    }
    const shown = entries.map(({ name, kind, size }) => ({ name, kind, size: kind === "file" ? size : 0 }));
    if (step.entries) assert.deepEqual(shown, step.entries);
  });
}

async function install(kernel: Kernel, step: InstallStep): Promise<void> {
  const lines: string[] = [];
  const controller = new AbortController();
  if (step.cancel) controller.abort();
  await expectRefusal(step.refused, async () => {
    const reply = await kernel.install(step.install, {
      signal: controller.signal,
      onProgress: (line) => lines.push(line),
    });
    if (step.gives) assert.deepEqual(reply, step.gives);
    assert.ok(lines.length > 0, "No progress was told");
  });
}

async function awaitFile(kernel: Kernel, path: string): Promise<void> {
  for (const from = performance.now(); performance.now() - from < AWAIT_MS; ) {
    try {
      await kernel.files.read(path, DEFAULT_LIMIT);
      return;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "FILE_NOT_FOUND") throw error;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
  assert.fail(`${path} has not come within ${AWAIT_MS / 1000} s`);
}

async function expectRefusal(code: ErrorCode | undefined, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (code === undefined || !(error instanceof AppError)) throw error;
    assert.equal(error.code, code, `It was refused with ${error.code}: ${error.message}`);
    assert.match(error.message, /^\S.*[^.\s]$/s, "The message is empty or ends in a full stop");
    return;
  }
  assert.equal(undefined, code, `It was not refused with ${code}`);
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
}
