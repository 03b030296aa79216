import { after } from "node:test";
import { runBackendContract } from "../contract/backend-contract.ts";
import { makeTestBackend } from "./subprocess-setup.ts";

const cleanUps: (() => Promise<void>)[] = [];

runBackendContract("subprocess", async () => {
  const { backend, cleanUp } = await makeTestBackend({ ownPackages: true });
  cleanUps.push(cleanUp);
  return backend;
});

after(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});
