import { after } from "node:test";
import { findPython } from "../../src/backends/subprocess/find-python.ts";
import { BACKEND_CHECKS } from "../contract/backend-checks.ts";
import { runBackendContract } from "../contract/backend-contract.ts";
import { LIBRARIES_PYTHON } from "../helpers/python.ts";
import { makeTestBackend } from "./subprocess-setup.ts";

const cleanUps: (() => Promise<void>)[] = [];

runBackendContract("subprocess", async () => {
  const { backend, cleanUp } = await makeTestBackend({ ownPackages: true });
  cleanUps.push(cleanUp);
  return backend;
});

if (LIBRARIES_PYTHON !== undefined) {
  const python = await findPython({ ...process.env, REPL_PYTHON: LIBRARIES_PYTHON });
  const only = BACKEND_CHECKS.filter(({ modules }) => modules).map(({ id }) => id);
  const make = async () => {
    const { backend, cleanUp } = await makeTestBackend({ python });
    cleanUps.push(cleanUp);
    return backend;
  };
  runBackendContract("subprocess with libraries", make, { only });
}

after(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});
