import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../helpers/process.ts";
import type { Threat } from "./threat.ts";
import { THREATS, threatTable } from "./threats.ts";

/**
 * Takes each guard of the threat model away, in a copy of the tree, and runs the test that is said to prove it: it has
 * to fail. Run it as `node --import ./test/node_modules/tsx/dist/loader.mjs test/security/mutants.ts [TEXT …]`, where
 * each TEXT chooses rows; `--table` prints the table of SECURITY.md instead.
 */

const LIMIT_MS = 120_000;
const COPIED = ["src", "adapters", "test", "scripts", "package.json", "tsconfig.json"];
const LINKED = ["node_modules", "test/node_modules", "test/.venv"];

async function copyTree(): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), "mutants-"));
  const left = new Set(LINKED.map((path) => join(ROOT, path)));
  for (const path of COPIED) {
    const filter = (source: string): boolean => !left.has(source) && !source.includes("__pycache__");
    await cp(join(ROOT, path), join(tree, path), { recursive: true, filter });
  }
  for (const path of LINKED) await symlink(join(ROOT, path), join(tree, path));
  return tree;
}

/** Resolves to whether the tests passed. @param name Part of their names; absent: all of the file. */
function runTests(tree: string, file: string, name?: string): Promise<boolean> {
  const loader = join(tree, "test/node_modules/tsx/dist/loader.mjs");
  const pattern = name === undefined ? [] : [`--test-name-pattern=${name.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&")}`];
  const env = {
    ...process.env,
    REPL_TEST_COMMAND: `${process.execPath} --import ${loader} ${join(tree, "adapters/cli.ts")}`,
  };
  const child = spawn(process.execPath, ["--import", loader, "--test", ...pattern, join(tree, file)], {
    cwd: tree,
    env,
    stdio: "ignore",
    detached: true,
  });
  // The whole group: the runner has a process for the file.
  const limit = setTimeout(() => child.pid && process.kill(-child.pid, "SIGKILL"), LIMIT_MS);
  return new Promise((resolve) => {
    child.once("close", (code) => {
      clearTimeout(limit);
      resolve(code === 0);
    });
  });
}

/** Resolves to what brings the guard back; undefined when its text is not in its file once. */
async function removeGuard(tree: string, threat: Threat): Promise<(() => Promise<void>) | undefined> {
  const [guard, without] = threat.remove;
  const path = join(tree, threat.file);
  const before = await readFile(path, "utf8");
  if (before.split(guard).length !== 2) return undefined;
  await writeFile(
    path,
    before.replace(guard, () => without),
  );
  return () => writeFile(path, before);
}

async function judge(tree: string, threat: Threat): Promise<string> {
  const restore = await removeGuard(tree, threat);
  if (!restore) return "NOT FOUND";
  try {
    return (await runTests(tree, threat.test, threat.name)) ? "SURVIVED" : "noticed";
  } finally {
    await restore();
  }
}

/** Each worker has a tree of its own. */
async function work(queue: Iterator<Threat>, tell: (line: string) => void): Promise<number> {
  const tree = await copyTree();
  let survived = 0;
  try {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const threat = next.value;
      const verdict = await judge(tree, threat);
      if (verdict !== "noticed") survived += 1;
      tell(`${verdict.padEnd(9)} ${threat.who}: ${threat.attempt} (${threat.file})`);
    }
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
  return survived;
}

/** Tests that fail as it is prove nothing. */
async function failingAsItIs(threats: readonly Threat[]): Promise<string[]> {
  const tree = await copyTree();
  const failing: string[] = [];
  for (const file of new Set(threats.map(({ test }) => test))) if (!(await runTests(tree, file))) failing.push(file);
  await rm(tree, { recursive: true, force: true });
  return failing;
}

async function main(texts: readonly string[]): Promise<number> {
  const tell = (line: string): void => void process.stdout.write(`${line}\n`);
  if (texts.includes("--table")) {
    tell(threatTable());
    return 0;
  }
  const chosen = THREATS.filter(
    (threat) => texts.length === 0 || texts.some((text) => JSON.stringify(threat).includes(text)),
  );
  const failing = await failingAsItIs(chosen);
  for (const file of failing) tell(`FAILS AS IT IS: ${file}`);
  const queue = chosen.filter(({ test }) => !failing.includes(test)).values();
  const workers = Math.max(1, Math.min(2, availableParallelism() - 1));
  const survived = await Promise.all(Array.from({ length: workers }, () => work(queue, tell)));
  const count = survived.reduce((sum, one) => sum + one, 0);
  tell(`${chosen.length} guards, ${count} not missed by their tests, ${failing.length} files that fail as they are`);
  return count + failing.length === 0 ? 0 : 1;
}

main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
