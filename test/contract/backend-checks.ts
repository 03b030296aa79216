import { AWAIT_CHECKS } from "./backend-checks-await.ts";
import { CHANGE_CHECKS } from "./backend-checks-changes.ts";
import { DISPLAY_CHECKS } from "./backend-checks-display.ts";
import { ERROR_CHECKS } from "./backend-checks-errors.ts";
import { FILE_CHECKS } from "./backend-checks-files.ts";
import { INSTALL_CHECKS } from "./backend-checks-install.ts";
import { LANGUAGE_CHECKS } from "./backend-checks-language.ts";
import { LIFE_CHECKS } from "./backend-checks-life.ts";
import { OUTPUT_CHECKS } from "./backend-checks-output.ts";
import { STOP_CHECKS } from "./backend-checks-stop.ts";
import type { BackendCheck } from "./backend-steps.ts";

/** The backend contract: what every backend does the same. */
export const BACKEND_CHECKS: readonly BackendCheck[] = [
  ...LANGUAGE_CHECKS,
  ...ERROR_CHECKS,
  ...OUTPUT_CHECKS,
  ...DISPLAY_CHECKS,
  ...AWAIT_CHECKS,
  ...STOP_CHECKS,
  ...LIFE_CHECKS,
  ...FILE_CHECKS,
  ...CHANGE_CHECKS,
  ...INSTALL_CHECKS,
];
