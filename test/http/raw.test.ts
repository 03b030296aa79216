import { describe, test } from "node:test";
import { RAW_CHECKS } from "./checks-raw.ts";
import { sharedServer } from "./target.ts";

/** The HTTP surface itself; of a server that takes no token. */
describe("HTTP surface", { concurrency: 4 }, () => {
  const server = sharedServer();
  for (const { id, run } of RAW_CHECKS) {
    test(id, { timeout: 45_000 }, async () => run((await server()).url));
  }
});
