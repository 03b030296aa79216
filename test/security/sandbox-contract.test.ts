import { after, describe, test } from "node:test";
import { BACKEND_CHECKS } from "../contract/backend-checks.ts";
import { runBackendContract } from "../contract/backend-contract.ts";
import { makeSandboxedBackend, sandboxRefusal } from "./sandbox-setup.ts";

/** Installs a wheel out of the session's own folder, which the installer of a sandbox does not see; see sandbox-install. */
const OTHERWISE = new Set(["installed-packages-import-at-once", "failed-installation-says-why"]);

const refusal = sandboxRefusal();
const cleanUps: (() => Promise<void>)[] = [];

if (refusal !== undefined) {
  describe("backend contract: subprocess in bubblewrap", () => test("every check", { skip: refusal }, () => undefined));
} else {
  runBackendContract(
    "subprocess in bubblewrap",
    async () => {
      const { backend, cleanUp } = await makeSandboxedBackend();
      cleanUps.push(cleanUp);
      return backend;
    },
    { only: BACKEND_CHECKS.map(({ id }) => id).filter((id) => !OTHERWISE.has(id)) },
  );
}

after(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});
