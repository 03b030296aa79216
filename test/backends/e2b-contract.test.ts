import { after } from "node:test";
import { createE2bBackend } from "../../src/backends/e2b/backend.ts";
import { runBackendContract } from "../contract/backend-contract.ts";
import { startStandIn } from "../e2b/stand-in.ts";
import { LIBRARIES_PYTHON } from "../helpers/python.ts";

/** The same checks as for the subprocess backend, over real HTTP against the stand-in of E2B. */
const python = process.env.STAND_IN_PYTHON ?? LIBRARIES_PYTHON ?? "python3";
const standIn = await startStandIn({ kernel: { python, ipython: false } });
after(() => standIn.close());

runBackendContract("e2b", () => {
  const { apiKey, apiUrl, sandboxUrl } = standIn;
  return createE2bBackend({ apiKey, apiUrl, sandboxUrl });
});
