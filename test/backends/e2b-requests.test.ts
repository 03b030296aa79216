import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, afterEach, describe, test } from "node:test";
import { WireClient } from "../e2b/client.ts";
import { startStandIn } from "../e2b/stand-in.ts";
import { backendOf, kernelOptions, requests, runCell } from "./e2b-setup.ts";

/** How many requests a run costs upstream: what one pays for in time, and at the service's limits. */
const standIn = await startStandIn();
const wire = new WireClient(standIn);
after(() => standIn.close());
afterEach(() => standIn.reset());

const CREATE = "POST /v2/sandboxes";
const CONNECT = "POST /v2/sandboxes/ID/connect";
const EXECUTE = "POST 49999/execute";

describe("requests upstream", () => {
  test("a new session: 2, and the warm-up", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    await runCell(kernel, "1");
    assert.deepEqual(requests(standIn), [CREATE, EXECUTE, EXECUTE]);
  });

  test("a run on a live sandbox: exactly 1", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    standIn.clearLog();
    await runCell(kernel, "print('x')\n1");
    assert.deepEqual(requests(standIn), [EXECUTE]);
    standIn.clearLog();
    await runCell(kernel, "1 / 0");
    assert.deepEqual(requests(standIn), [EXECUTE]);
  });

  test("a lease about to end: 2, and it is extended by more than the cell may take", async () => {
    const kernel = await backendOf(standIn, { idleSeconds: 20, leaseMarginMs: 5_000 }).startKernel(kernelOptions());
    standIn.clearLog();
    await runCell(kernel, "1", { timeoutMs: 100_000 });
    assert.deepEqual(requests(standIn), [CONNECT, EXECUTE]);
    const [sandbox] = standIn.sandboxes.values();
    assert.ok((sandbox?.endAt ?? 0) - Date.now() > 103_000);
  });

  test("a lease that is short but enough is renewed beside the run", async () => {
    const start = Date.now();
    let shift = 0;
    const now = () => Date.now() + shift;
    const kernel = await backendOf(standIn, { idleSeconds: 600, now }).startKernel(kernelOptions());
    standIn.clearLog();
    shift = 400_000; // of 900 s
    await runCell(kernel, "1", { timeoutMs: 60_000 });
    assert.deepEqual(requests(standIn).sort(), [EXECUTE, CONNECT].sort());
    standIn.clearLog();
    await runCell(kernel, "1", { timeoutMs: 60_000 });
    assert.deepEqual(requests(standIn), [EXECUTE]);
    assert.ok(Date.now() - start < 60_000);
  });

  test("found again by another process: 1 with sealed tokens, 2 without", async () => {
    for (const [sealKey, expected] of [
      [randomBytes(32).toString("base64"), [EXECUTE]],
      [undefined, [CONNECT, EXECUTE]],
    ] as const) {
      const more = sealKey === undefined ? {} : { sealKey };
      const kernel = await backendOf(standIn, more).startKernel(kernelOptions());
      await runCell(kernel, "x = 41");
      const ref = JSON.parse(JSON.stringify(kernel.ref));
      standIn.clearLog();
      const again = await backendOf(standIn, more).attachKernel(ref, kernelOptions());
      assert.ok(again);
      assert.equal((await runCell(again, "x + 1")).value, "42");
      assert.deepEqual(requests(standIn), expected);
    }
  });

  test("found again with little of its lease left: it is renewed first, so that the ref has the new one", async () => {
    let shift = 0;
    const options = { idleSeconds: 600, sealKey: randomBytes(32).toString("base64"), now: () => Date.now() + shift };
    const kernel = await backendOf(standIn, options).startKernel(kernelOptions());
    const ref = JSON.parse(JSON.stringify(kernel.ref));
    shift = 400_000; // of 900 s
    standIn.clearLog();
    const again = await backendOf(standIn, options).attachKernel(ref, kernelOptions());
    assert.deepEqual(requests(standIn), [CONNECT]);
    const third = await backendOf(standIn, options).attachKernel(again?.ref ?? {}, kernelOptions());
    assert.ok(third);
    await runCell(third, "1");
    assert.deepEqual(requests(standIn), [CONNECT, EXECUTE]);
  });

  test("a ref holds no token in the clear, and none that another key opens", async () => {
    const kernel = await backendOf(standIn, { sealKey: randomBytes(32).toString("base64") }).startKernel(
      kernelOptions(),
    );
    const [sandbox] = standIn.sandboxes.values();
    const text = JSON.stringify(kernel.ref);
    assert.ok(sandbox?.trafficToken && !text.includes(sandbox.trafficToken) && !text.includes(sandbox.envdToken));
    standIn.clearLog();
    const again = await backendOf(standIn, { sealKey: randomBytes(32).toString("base64") }).attachKernel(
      JSON.parse(text),
      kernelOptions(),
    );
    assert.ok(again);
    await runCell(again, "1");
    assert.deepEqual(requests(standIn), [CONNECT, EXECUTE]);
  });

  test("what the sandbox is made with: private traffic, its owner in the metadata, idle time", async () => {
    const options = { deploy: "test", internet: false, onIdle: "pause", idleSeconds: 40 } as const;
    await backendOf(standIn, options).startKernel(kernelOptions({ epoch: 3 }));
    const [sandbox] = standIn.sandboxes.values();
    const { metadata, ...spec } = sandbox?.spec ?? assert.fail();
    const { nonce, ...owner } = metadata;
    assert.match(nonce ?? "", /^[0-9a-f-]{36}$/);
    assert.deepEqual(owner, {
      app: "edge-python-repl",
      deploy: "test",
      owner: "owner",
      session: "session",
      epoch: "3",
    });
    assert.deepEqual(spec, {
      templateId: "code-interpreter-v1",
      timeout: 60,
      envVars: {},
      allowPublicTraffic: false,
      allowInternetAccess: false,
      autoPause: true,
      autoResume: true,
    });
  });

  test("packages of the owner are there before the first cell, and one that fails is told", async () => {
    const maker = await backendOf(standIn).startKernel(kernelOptions({ sessionId: "maker" }));
    const name = `stand_in_probe_${crypto.randomUUID().slice(0, 8)}`;
    const { value } = await runCell(maker, WHEEL.replaceAll("NAME", name));
    const file = (value ?? "").slice(1, -1);
    const packages = [`${name} @ file://${file}`];
    const kernel = await backendOf(standIn).startKernel(kernelOptions({ packages }));
    const ran = await runCell(kernel, `import ${name}; ${name}.VALUE`);
    assert.equal(ran.value, "7");
    await runCell(
      kernel,
      `import subprocess, sys; subprocess.run([sys.executable, '-m', 'pip', 'uninstall', '-qy', '${name}'])`,
    );
    const broken = kernelOptions({ sessionId: "broken", packages: [`${name} @ file:///none.whl`] });
    const other = await backendOf(standIn).startKernel(broken);
    const [first] = (await runCell(other, "1")).outputs;
    assert.ok(first?.type === "stream" && first.name === "stderr" && first.late);
    assert.match(first.text, /^Could not install .* in this sandbox: /);
  });

  test("two starts of one session at once are one sandbox", async () => {
    const backend = backendOf(standIn);
    const [a, b] = await Promise.all([backend.startKernel(kernelOptions()), backend.startKernel(kernelOptions())]);
    assert.equal(a, b);
    assert.equal(standIn.sandboxes.size, 1);
  });

  test("a kernel is discarded by its ref: once, twice, and paused", async () => {
    const backend = backendOf(standIn);
    for (const paused of [false, true]) {
      const { ref } = await backend.startKernel(kernelOptions());
      if (paused) await wire.control("POST", `/sandboxes/${String(ref.sandboxId)}/pause`);
      await backend.discardKernel(ref);
      assert.equal(standIn.sandboxes.size, 0);
      await backend.discardKernel(ref);
      assert.equal(await backend.attachKernel(ref, kernelOptions()), undefined);
    }
  });
});

const WHEEL = `
import zipfile, tempfile, os
path = os.path.join(tempfile.mkdtemp(), 'NAME-1.0-py3-none-any.whl')
with zipfile.ZipFile(path, 'w') as wheel:
    wheel.writestr('NAME.py', 'VALUE = 7')
    wheel.writestr('NAME-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: NAME\\nVersion: 1.0\\n')
    wheel.writestr('NAME-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('NAME-1.0.dist-info/RECORD', '')
path`;
