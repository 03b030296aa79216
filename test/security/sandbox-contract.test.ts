import { after, describe, test } from "node:test";
import { CHANGE_CHECKS } from "../contract/backend-checks-changes.ts";
import { FILE_CHECKS } from "../contract/backend-checks-files.ts";
import { INSTALL_CHECKS } from "../contract/backend-checks-install.ts";
import { LIFE_CHECKS } from "../contract/backend-checks-life.ts";
import { OUTPUT_CHECKS } from "../contract/backend-checks-output.ts";
import { STOP_CHECKS } from "../contract/backend-checks-stop.ts";
import { runBackendContract } from "../contract/backend-contract.ts";
import { makeSandboxedBackend, sandboxRefusal } from "./sandbox-setup.ts";

/** What walls may break; what a cell means is up to the same Python code as outside. */
const CHECKS = [...OUTPUT_CHECKS, ...STOP_CHECKS, ...LIFE_CHECKS, ...FILE_CHECKS, ...CHANGE_CHECKS, ...INSTALL_CHECKS];

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
    { only: CHECKS.map(({ id }) => id).filter((id) => !OTHERWISE.has(id)) },
  );
}

after(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});
