import { describe, test } from "node:test";
import { RAW_CHECKS } from "./checks-raw.ts";
import { sharedServer } from "./target.ts";

/** What the server at `REPL_TEST_URL` lacks, by the names in `needs`, separated by commas. */
const LACKS = process.env.REPL_TEST_LACKS?.split(",") ?? [];

/** The HTTP surface itself, whoever calls. */
describe("HTTP surface", { concurrency: 4 }, () => {
  const server = sharedServer();
  for (const { id, needs, run } of RAW_CHECKS) {
    const skip = needs !== undefined && LACKS.includes(needs) ? `this server has no ${needs}` : false;
    test(id, { skip, timeout: 45_000 }, async () => run((await server()).url));
  }
});
