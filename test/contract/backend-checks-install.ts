import { type BackendCheck, like, lines, type Step } from "./backend-steps.ts";

/** A name of this run alone: backends may share an interpreter with other programs. */
const MODULE = `contract_probe_${crypto.randomUUID().slice(0, 8)}`;
const NAME = MODULE.replaceAll("_", "-");
const FOLDER = `/tmp/${MODULE}`;

/** Writes a wheel of the package into /tmp of the session, so that no package index is needed. */
function makeWheel(version: string): Step {
  return {
    run: lines(
      "import os, zipfile",
      `os.makedirs('${FOLDER}', exist_ok=True)`,
      `name = '${MODULE}-${version}'`,
      `with zipfile.ZipFile(f'${FOLDER}/{name}-py3-none-any.whl', 'w') as wheel:`,
      `    wheel.writestr('${MODULE}.py', 'VERSION = "${version}"')`,
      `    wheel.writestr(f'{name}.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: ${NAME}\\nVersion: ${version}\\n')`,
      "    wheel.writestr(f'{name}.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')",
      "    wheel.writestr(f'{name}.dist-info/RECORD', '')",
    ),
  };
}

function wheel(version: string): string[] {
  return [`${NAME} @ file://${FOLDER}/${MODULE}-${version}-py3-none-any.whl`];
}

export const INSTALL_CHECKS: readonly BackendCheck[] = [
  {
    id: "installed-packages-import-at-once",
    steps: [
      {
        run: `import ${MODULE}`,
        error: {
          name: "ModuleNotFoundError",
          message: `No module named '${MODULE}'`,
          traceback: like(/ModuleNotFoundError/, `ModuleNotFoundError: No module named '${MODULE}'`),
        },
      },
      makeWheel("1.0"),
      makeWheel("2.0"),
      { install: wheel("1.0"), gives: { installed: [`${NAME} 1.0`], replaced: [] } },
      { run: `import ${MODULE} as probe; probe.VERSION`, value: "'1.0'" },
      { install: wheel("2.0"), gives: { installed: [`${NAME} 2.0`], replaced: [NAME] } },
      { run: "import importlib; importlib.reload(probe).VERSION", value: "'2.0'" },
      {
        run: lines(
          "import shutil, subprocess, sys",
          `shutil.rmtree('${FOLDER}')`,
          `subprocess.run([sys.executable, '-m', 'pip', 'uninstall', '-y', '${NAME}'], capture_output=True)`,
          "None",
        ),
      },
    ],
  },
  {
    id: "failed-installation-says-why",
    steps: [
      {
        install: [`${NAME} @ file://${FOLDER}/none-1.0-py3-none-any.whl`],
        refused: "INSTALL_FAILED",
      },
    ],
  },
  {
    id: "cancelled-installation",
    steps: [{ install: [NAME], cancel: true, refused: "CANCELLED" }],
  },
];
