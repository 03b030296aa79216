import { type BackendCheck, like, lines, type Step } from "./backend-steps.ts";

/** Writes a wheel of the package into /tmp of the session, so that no package index is needed. */
function makeWheel(version: string): Step {
  return {
    run: lines(
      "import os, zipfile",
      "os.makedirs('/tmp/contract-wheels', exist_ok=True)",
      `name = 'contract_probe-${version}'`,
      "with zipfile.ZipFile(f'/tmp/contract-wheels/{name}-py3-none-any.whl', 'w') as wheel:",
      `    wheel.writestr('contract_probe.py', 'VERSION = "${version}"')`,
      `    wheel.writestr(f'{name}.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: contract-probe\\nVersion: ${version}\\n')`,
      "    wheel.writestr(f'{name}.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')",
      "    wheel.writestr(f'{name}.dist-info/RECORD', '')",
    ),
  };
}

function wheel(version: string): string[] {
  return [`contract-probe @ file:///tmp/contract-wheels/contract_probe-${version}-py3-none-any.whl`];
}

export const INSTALL_CHECKS: readonly BackendCheck[] = [
  {
    id: "installed-packages-import-at-once",
    steps: [
      {
        run: "import contract_probe",
        error: {
          name: "ModuleNotFoundError",
          message: "No module named 'contract_probe'",
          traceback: like(/ModuleNotFoundError/, "ModuleNotFoundError: No module named 'contract_probe'"),
        },
      },
      makeWheel("1.0"),
      makeWheel("2.0"),
      { install: wheel("1.0"), gives: { installed: ["contract-probe 1.0"], replaced: [] } },
      { run: "import contract_probe; contract_probe.VERSION", value: "'1.0'" },
      { install: wheel("2.0"), gives: { installed: ["contract-probe 2.0"], replaced: ["contract-probe"] } },
      { run: "import importlib; importlib.reload(contract_probe).VERSION", value: "'2.0'" },
    ],
  },
  {
    id: "failed-installation-says-why",
    steps: [
      {
        install: ["contract-probe @ file:///tmp/contract-wheels/none-1.0-py3-none-any.whl"],
        refused: "INSTALL_FAILED",
      },
    ],
  },
  {
    id: "cancelled-installation",
    steps: [{ install: ["contract-probe"], cancel: true, refused: "CANCELLED" }],
  },
];
