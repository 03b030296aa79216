/** As much of `node:test` as our unit tests use, for a runtime that has none: a Worker whose answer is what came of them. */

type Task = () => unknown;
type Suite = {
  readonly name: string;
  readonly before: Task[];
  readonly beforeEach: Task[];
  readonly after: Task[];
  readonly afterEach: Task[];
  readonly items: (Suite | { readonly name: string; readonly run: Task })[];
};

export type UnitReport = { passed: number; readonly failed: { readonly name: string; readonly error: string }[] };

function suiteOf(name: string): Suite {
  return { name, before: [], beforeEach: [], after: [], afterEach: [], items: [] };
}

const root = suiteOf("");
let open = root;

/** Options, if any, stand between the name and the function, and are not looked at. */
type Define = (name: string, ...rest: readonly unknown[]) => void;
const last = (rest: readonly unknown[]): Task => rest.at(-1) as Task;

export const test: Define = (name, ...rest) => void open.items.push({ name, run: last(rest) });
export const it = test;
export const describe: Define = (name, ...rest) => {
  const [outer, suite] = [open, suiteOf(name)];
  outer.items.push(suite);
  open = suite;
  last(rest)();
  open = outer;
};
export const before = (task: Task): void => void open.before.push(task);
export const beforeEach = (task: Task): void => void open.beforeEach.push(task);
export const after = (task: Task): void => void open.after.push(task);
export const afterEach = (task: Task): void => void open.afterEach.push(task);

async function runSuite(suite: Suite, outer: readonly Suite[], report: UnitReport): Promise<void> {
  const around = [...outer, suite];
  for (const task of suite.before) await task();
  for (const item of suite.items) {
    if ("items" in item) await runSuite(item, around, report);
    else await runTest(item, around, report);
  }
  for (const task of suite.after) await task();
}

async function runTest(item: { name: string; run: Task }, around: readonly Suite[], report: UnitReport): Promise<void> {
  try {
    for (const { beforeEach } of around) for (const task of beforeEach) await task();
    await item.run();
    for (const { afterEach } of around) for (const task of afterEach) await task();
    report.passed += 1;
  } catch (error) {
    const name = [...around, item].map((part) => part.name).filter((part) => part !== "");
    report.failed.push({ name: name.join(": "), error: String((error as Error)?.stack ?? error) });
  }
}

export default {
  async fetch(): Promise<Response> {
    const report: UnitReport = { passed: 0, failed: [] };
    await runSuite(root, [], report);
    return Response.json(report);
  },
};
