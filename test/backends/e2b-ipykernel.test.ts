import { execFileSync } from "node:child_process";
import { after, describe, test } from "node:test";
import { runBackendContract } from "../contract/backend-contract.ts";
import { startStandIn } from "../e2b/stand-in.ts";
import { LIBRARIES_PYTHON } from "../helpers/python.ts";
import { backendOf } from "./e2b-setup.ts";

/**
 * What depends on the kernel most, on the real ipykernel instead of the stand-in's own kernel, where one is installed:
 * in the Python named by STAND_IN_IPYTHON, or in the tests' virtual environment.
 */
const CHECKS = [
  "value-of-last-expression",
  "damaged-builtins",
  "traceback-through-earlier-cells",
  "children-write-too",
  "threads-write-too",
  "streams-in-order",
  "children-write-in-order",
  "late-output-comes-with-the-next-cell",
  "mime-bundles",
  "top-level-await",
  "asyncio-run-in-any-order",
  "tasks-go-on-in-later-cells",
  "forked-child-never-answers",
  "stops-loop-and-keeps-variables",
  "stops-await-and-keeps-variables",
  "stops-child-and-keeps-variables",
  "code-stuck-in-c-is-killed",
  "exit-of-the-process",
];

const python = process.env.STAND_IN_IPYTHON ?? LIBRARIES_PYTHON ?? "";

function hasKernel(): boolean {
  try {
    execFileSync(python, ["-c", "import ipykernel, jupyter_client"], { stdio: "ignore" });
    return true;
  } catch {
    return false; // it is not installed
  }
}

if (hasKernel()) {
  const standIn = await startStandIn({ kernel: { python, ipython: true } });
  after(() => standIn.close());
  runBackendContract("e2b on ipykernel", () => backendOf(standIn), { only: CHECKS });
} else {
  describe("backend contract: e2b on ipykernel", () => {
    test("on the real kernel", { skip: "needs ipykernel and jupyter_client" }, () => undefined);
  });
}
