import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { openStorage } from "../../adapters/drivers/open.ts";
import { storeSuite } from "../contract/store-suite.ts";

const folder = mkdtempSync(join(tmpdir(), "store-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const alone = { sharing: false };
storeSuite("memory", () => ({ supports: alone, open: () => openStorage("memory", {}) }), alone);

const shared = { sharing: true };
storeSuite("fs", () => ({ supports: shared, open: () => openStorage(`fs:${folder}`, {}) }), shared);
