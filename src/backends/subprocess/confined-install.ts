import type { InstallOptions } from "../../core/backend.ts";
import { AppError } from "../../core/errors.ts";
import type { Environment } from "./environment.ts";
import { failed, runInstaller } from "./installer.ts";
import type { Command, Sandbox } from "./sandbox.ts";

const PIP = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--no-color", "--no-cache-dir"];

/**
 * Installs for one owner in two steps, so that code of packages, which can run while they are built and at each start of
 * an interpreter that sees them, never has the network or the index's password: first the base interpreter, which sees
 * no package of the owner, downloads wheels; then the owner's interpreter installs them without network.
 * @throws AppError INVALID_REQUIREMENT for a URL of anything but a wheel, INSTALL_FAILED, CANCELLED.
 */
export async function installConfined(
  sandbox: Sandbox,
  owner: string,
  environment: Environment,
  requirements: readonly string[],
  call: InstallOptions,
  limitMs: number,
): Promise<void> {
  for (const requirement of requirements) refuseSources(requirement);
  if (!environment.hasPip) throw failed(requirements, "the server's Python has no pip");
  const { basePython, python } = environment;
  const wheels = await sandbox.wheelsFolder(owner);
  const run = async (command: Command, step: "download" | "install"): Promise<void> => {
    const place = { owner, wheels: wheels.path };
    const confined = await sandbox.installer(
      command,
      step === "download" ? { ...place, kind: step } : { ...place, kind: step, packages: environment.folder },
    );
    await runInstaller({ env: confined.env, limitMs }, confined.command, requirements, call);
  };
  try {
    const only = ["--only-binary", ":all:", "--dest", wheels.path];
    await run([basePython, "-I", "-m", "pip", "download", ...PIP, ...only, "--", ...requirements], "download");
    const local = ["--no-index", "--find-links", wheels.path];
    const names = requirements.map(withoutUrl);
    await run([python, "-m", "pip", "install", ...PIP, ...local, "--", ...names], "install");
  } finally {
    await wheels.remove();
  }
}

/** What is built from sources would run its code with the network; pip builds URLs whatever `--only-binary` says. */
function refuseSources(requirement: string): void {
  const url = /\s@\s*(\S+)/.exec(requirement)?.[1] ?? (requirement.includes("://") ? requirement : undefined);
  if (url === undefined || /^https?:\/\/[^?#]+\.whl(?:[?#;]|$)/i.test(url)) return;
  throw new AppError(
    "INVALID_REQUIREMENT",
    `${JSON.stringify(requirement)} is no wheel; in the sandbox a URL must be http(s) and end in .whl`,
  );
}

/** What names the same wheel to an installer without network: the package instead of the URL that it came from. */
function withoutUrl(requirement: string): string {
  const wheel = /^https?:\/\/\S*\/([^/?#]+)\.whl/i.exec(requirement)?.[1];
  return wheel?.split("-")[0] ?? requirement.replace(/\s@\s*\S+/, "");
}
