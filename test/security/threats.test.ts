import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ROOT } from "../helpers/process.ts";
import { THREATS, threatTable } from "./threats.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

describe("the threat model", () => {
  test("is the table of SECURITY.md", () => {
    assert.ok(
      read("SECURITY.md").includes(threatTable()),
      "Run test/security/mutants.ts --table and put it into SECURITY.md",
    );
  });

  test("names guards that are there, once each", () => {
    const wrong = THREATS.filter(({ file, remove: [guard] }) => read(file).split(guard).length !== 2);
    assert.deepEqual(
      wrong.map(({ file, remove }) => `${file}: ${remove[0]}`),
      [],
    );
  });

  test("names tests that are there", () => {
    const wrong = THREATS.filter(({ test: file, name }) => !read(file).includes(name));
    assert.deepEqual(
      wrong.map(({ test: file, name }) => `${file}: ${name}`),
      [],
    );
  });
});
