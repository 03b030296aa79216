import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { createE2bBackend } from "../../src/backends/e2b/backend.ts";
import { makeRef, readRef, sealTokens } from "../../src/backends/e2b/ref.ts";
import { createSeal } from "../../src/backends/e2b/seal.ts";
import type { Kernel, KernelRef } from "../../src/core/backend.ts";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";

const OPTIONS = { owner: "o", sessionId: "s", epoch: 1, packages: [] };
const FACTS = { nonce: "n" } as Parameters<typeof makeRef>[1];
const LEASE = { until: Date.now() + 600_000, length: 600_000 };
const CONNECTION = { sandboxId: "i1", sandboxDomain: "one.example", envdToken: "e", trafficToken: "t" };

describe("a stored reference to a sandbox", () => {
  const seal = createSeal(randomBytes(32).toString("base64"));
  const make = async () => makeRef(CONNECTION, FACTS, LEASE, await sealTokens(CONNECTION, seal));

  test("opens with the key that sealed it, and is refused with another", async () => {
    const content = await readRef(await make(), seal);
    assert.deepEqual(content?.connection, CONNECTION);
    const other = await readRef(await make(), createSeal(randomBytes(32).toString("base64")));
    assert.deepEqual([other?.hasTokens, other?.connection.sandboxDomain], [false, undefined]);
  });

  test("with another address in it brings neither its tokens nor the address along", async () => {
    for (const change of [{ sandboxDomain: "evil.example" }, { sandboxDomain: null }, { sandboxId: "i2" }]) {
      const content = await readRef({ ...(await make()), ...change }, seal);
      assert.equal(content?.hasTokens, false);
      assert.equal(content.connection.envdToken, undefined);
      assert.equal(content.connection.sandboxDomain, undefined);
    }
  });

  test("with an id that is more than an id is none", async () => {
    for (const sandboxId of ["../templates", "x.evil.example/", "a@b", "", "x".repeat(65), 7, null]) {
      assert.equal(await readRef({ ...(await make()), sandboxId } as KernelRef, seal), undefined);
    }
  });
});

describe("a backend that finds a changed reference", () => {
  let standIn: StandIn;
  let trap: Server;
  let caught = 0;
  before(async () => {
    standIn = await startStandIn();
    trap = createServer((_request, response) => {
      caught += 1;
      response.end();
    }).listen(0, "127.0.0.1");
  });
  after(async () => {
    trap.close();
    await standIn.close();
  });

  test("asks the service, and sends code nowhere else", async () => {
    const { apiKey, apiUrl, sandboxUrl } = standIn;
    const backend = createE2bBackend({ apiKey, apiUrl, sandboxUrl, sealKey: randomBytes(32).toString("base64") });
    const kernel = await backend.startKernel(OPTIONS);
    const changed = { ...kernel.ref, sandboxDomain: `127.0.0.1:${(trap.address() as AddressInfo).port}` };
    standIn.clearLog();
    const again = await backend.attachKernel(changed, OPTIONS);
    assert.ok(again);
    assert.equal(await resultOf(again, "6 * 7"), "42");
    assert.deepEqual(
      standIn
        .log()
        .map(({ plane }) => plane)
        .slice(0, 2),
      ["control", "data"],
    );
    assert.equal(caught, 0);
    await again.shutdown();
    await backend.close();
  });
});

async function resultOf(kernel: Kernel, code: string): Promise<string | undefined> {
  let value: string | undefined;
  await kernel.execute(
    { code, number: 1 },
    {
      signal: new AbortController().signal,
      onOutput: (output) => {
        if (output.type === "execute_result") value = output.data["text/plain"];
      },
    },
  );
  return value;
}
