import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const inVenv = fileURLToPath(new URL("../.venv/bin/python", import.meta.url));

/** The Python with the libraries of test/requirements.txt; undefined where they could not be installed. */
export const LIBRARIES_PYTHON: string | undefined = existsSync(inVenv) ? inVenv : undefined;
