import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { diffLines } from "../../adapters/cli/setup-diff.ts";

describe("the shown change", () => {
  it("has two lines around each change and skips what is between", () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n");
    const after = before.replace("line 3", "line three").replace("line 15", "line fifteen");
    assert.equal(
      diffLines(before, after),
      "  line 1\n  line 2\n- line 3\n+ line three\n  line 4\n  line 5\n  ⋮\n  line 13\n  line 14\n- line 15\n+ line fifteen\n  line 16\n  line 17\n",
    );
  });

  it("is empty for no change, and all plus for a new file", () => {
    assert.equal(diffLines("a\n", "a\n"), "");
    assert.equal(diffLines("", "a\nb\n"), "+ a\n+ b\n");
  });

  it("cuts long lines, to the place that changed", () => {
    assert.equal(diffLines("", "x".repeat(1000)).length, 162);
    const long = "x".repeat(1000);
    const [removed = "", added = ""] = diffLines(`${long}1${long}`, `${long}2${long}`).split("\n");
    assert.match(removed, /^- …x+1x+…$/);
    assert.match(added, /^\+ …x+2x+…$/);
  });
});
