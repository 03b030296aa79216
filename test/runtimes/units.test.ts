import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type BuildOptions, build } from "esbuild";
import { ROOT, runToEnd } from "../helpers/process.ts";
import type { UnitReport } from "./node-test.ts";
import { missing, runtimeOf, type ServerRuntime } from "./runtimes.ts";
import { portableUnits } from "./units.ts";
import { startWorkerd } from "./workerd.ts";

/** Unit tests that need no platform run on all of them; how many there are this Node has told already. */

const files = portableUnits();
const folder = mkdtempSync(join(tmpdir(), "units-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const LIMIT_MS = 58_000;

/** How a runtime runs a file as tests, and how it says what came of them. */
const RUNNERS: readonly { readonly name: ServerRuntime["name"]; readonly args: string[]; readonly passed: RegExp }[] = [
  { name: "node22", args: ["--test"], passed: /^# pass (\d+)$/m },
  { name: "node24", args: ["--test", "--test-reporter=tap"], passed: /^# pass (\d+)$/m },
  {
    name: "deno",
    args: ["test", "--allow-all", "--no-check", "--no-prompt"],
    passed: /^ok \| \d+ passed \((\d+) steps\)/m,
  },
  { name: "bun", args: ["test"], passed: /^ (\d+) pass$/m },
];

const MOST = 300;

describe("unit tests that need no platform", () => {
  for (const { name, args, passed } of RUNNERS) {
    const runtime = runtimeOf(name);
    test(name, { skip: missing(runtime), timeout: 60_000 }, async (context) => {
      const [program] = runtime.http;
      const file = join(folder, "units.test.mjs");
      if (!existsSync(file)) writeFileSync(file, await bundleUnits({ external: ["node:test", "node:assert/strict"] }));
      const options = { cwd: folder, limitMs: LIMIT_MS, env: { NO_COLOR: "1" } };
      const { code, stdout, stderr } = await runToEnd([program, ...args, file], options);
      assert.equal(code, 0, stdout + stderr);
      const count = Number(passed.exec(stdout + stderr)?.[1]);
      context.diagnostic(`${count} passed`);
      assert.ok(count > MOST, `Only ${count} passed: ${stdout}${stderr}`);
    });
  }

  test("workerd", { timeout: 60_000 }, async (context) => {
    const worker = await startWorkerd({ env: {}, withoutObjects: true, module: await bundleUnits(ON_WORKERD) });
    context.after(() => worker.stop());
    const report = (await (await fetch(worker.url)).json()) as UnitReport;
    context.diagnostic(`${report.passed} passed`);
    assert.deepEqual(report.failed, []);
    assert.ok(report.passed > MOST);
  });
});

const RUNNER = join(ROOT, "test/runtimes/node-test.ts");
const ON_WORKERD = { external: ["node:assert/strict"], alias: { "node:test": RUNNER } };

/** All of them in one module; as a Worker it answers with what came of them. */
async function bundleUnits(options: BuildOptions): Promise<string> {
  const imports = files.map((path) => `import "./${path}";`);
  const answer = options.alias ? [`export { default } from ${JSON.stringify(RUNNER)};`] : [];
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    stdin: { contents: [...imports, ...answer].join("\n"), resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    logLevel: "error",
    ...options,
  });
  return outputFiles?.[0]?.text ?? "";
}
