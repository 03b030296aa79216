import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { refOwnsSandbox, type SandboxMeta, sweepSandboxes } from "../../src/backends/e2b/backend.ts";
import type { KernelRef } from "../../src/core/backend.ts";
import { WireClient } from "../e2b/client.ts";
import { startStandIn } from "../e2b/stand-in.ts";
import { backendOf, kernelOptions, optionsOf } from "./e2b-setup.ts";

const standIn = await startStandIn({ pageLimit: 2 });
const wire = new WireClient(standIn);
after(() => standIn.close());
afterEach(() => standIn.reset());

test("a sweep ends what no session owns, on all pages and paused too, and nothing of others", async () => {
  const backend = backendOf(standIn, { deploy: "here" });
  const refs = new Map<string, KernelRef>();
  for (const sessionId of ["a", "b", "c", "d", "e"]) {
    const { ref } = await backend.startKernel(kernelOptions({ sessionId }));
    refs.set(sessionId, ref);
  }
  await wire.control("POST", `/sandboxes/${String(refs.get("e")?.sandboxId)}/pause`);
  await backendOf(standIn, { deploy: "elsewhere" }).startKernel(kernelOptions({ sessionId: "x" }));
  await wire.create({ metadata: { app: "another" } });
  const stored = new Map([...refs].filter(([session]) => session === "a" || session === "c"));
  const asked: SandboxMeta[] = [];
  const keep = (meta: SandboxMeta): boolean => {
    asked.push(meta);
    return refOwnsSandbox(stored.get(meta.session), meta);
  };
  const options = optionsOf(standIn, { deploy: "here" });
  assert.equal(await sweepSandboxes(options, keep, { graceSeconds: 0 }), 3);
  assert.deepEqual(asked.map(({ session, epoch, owner }) => `${owner} ${session} ${epoch}`).sort(), [
    "owner a 1",
    "owner b 1",
    "owner c 1",
    "owner d 1",
    "owner e 1",
  ]);
  const left = [...standIn.sandboxes.values()].map(({ spec }) => spec.metadata.session ?? "another");
  assert.deepEqual(left.sort(), ["a", "another", "c", "x"]);
});

test("young sandboxes are left alone, and of two of one session only the stored one stays", async () => {
  const first = await backendOf(standIn).startKernel(kernelOptions());
  await backendOf(standIn).startKernel(kernelOptions()); // another isolate lost the race
  const keep = (meta: SandboxMeta) => refOwnsSandbox(first.ref, meta);
  assert.equal(await sweepSandboxes(optionsOf(standIn), keep), 0);
  assert.equal(standIn.sandboxes.size, 2);
  const later = optionsOf(standIn, { now: () => Date.now() + 601_000 });
  assert.equal(await sweepSandboxes(later, keep), 1);
  assert.deepEqual([...standIn.sandboxes.keys()], [first.ref.sandboxId]);
});

test("one that cannot be ended does not keep the others", async () => {
  const lines: string[] = [];
  for (const sessionId of ["a", "b"]) await backendOf(standIn).startKernel(kernelOptions({ sessionId }));
  standIn.fault({ plane: "control", method: "DELETE", status: 500 });
  const options = optionsOf(standIn, { log: (line) => lines.push(line) });
  assert.equal(await sweepSandboxes(options, () => false, { graceSeconds: 0 }), 1);
  assert.equal(standIn.sandboxes.size, 1);
  assert.match(lines.join(), /was not ended by the sweep/);
});
