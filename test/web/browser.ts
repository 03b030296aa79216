import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const CHROMIUM = process.env.REPL_TEST_CHROMIUM ?? "/usr/bin/chromium";

/** Why tests in a browser cannot run here; false when they can. */
export const withoutBrowser: string | false = existsSync(CHROMIUM) ? false : `there is no Chromium at ${CHROMIUM}`;

/** A real browser, with a profile of its own that is gone with it, and no connections but those of the pages. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
