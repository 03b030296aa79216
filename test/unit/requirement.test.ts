import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../../src/core/errors.ts";
import { parseRequirements } from "../../src/core/requirement.ts";

const strict = { allowUrls: false };

function refusal(text: string, options = strict): string {
  try {
    parseRequirements(text, options);
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, "INVALID_REQUIREMENT");
    return error.message;
  }
  return assert.fail(`${JSON.stringify(text)} was accepted`);
}

describe("one requirement", () => {
  const accepted: [string, string][] = [
    ["numpy", "numpy"],
    ["  numpy\n", "numpy"],
    ["pandas==2.0.0", "pandas==2.0.0"],
    ["httpx[http2]>=0.27", "httpx[http2]>=0.27"],
    ['"httpx[http2]>=0.27"', "httpx[http2]>=0.27"],
    ["'numpy'", "numpy"],
    ["iniconfig[x]>=1,<99", "iniconfig[x]>=1,<99"],
    ["iniconfig [x, y] >= 1 , < 99", "iniconfig[x,y]>=1,<99"],
    ["a (>=1, <2)", "a>=1,<2"],
    ["a==1.*", "a==1.*"],
    ["a~=1.4.2rc1.post2+local.3", "a~=1.4.2rc1.post2+local.3"],
    ["a===1!2.0-beta", "a===1!2.0-beta"],
    ["zope.interface", "zope.interface"],
    ['a>=1 ; python_version>"3.8"', 'a>=1; python_version>"3.8"'],
    [`a; (os_name=='nt' or sys_platform not in "linux darwin") and extra == 'x'`, ""],
    ["a[]", "a[]"],
  ];
  for (const [text, wanted] of accepted) {
    test(`${text.trim()} is accepted`, () => {
      const [found, ...more] = parseRequirements(text, strict);
      assert.deepEqual(more, []);
      if (wanted !== "") assert.equal(found, wanted);
    });
  }
});

describe("several requirements", () => {
  const accepted: [string, string[]][] = [
    ["numpy pandas", ["numpy", "pandas"]],
    ["numpy,pandas==2.0.0", ["numpy", "pandas==2.0.0"]],
    ["numpy>=1, <2, pandas", ["numpy>=1,<2", "pandas"]],
    ["numpy >=1 pandas <3\nrich", ["numpy>=1", "pandas<3", "rich"]],
    [`'a>1' "b[c]"`, ["a>1", "b[c]"]],
    ['a; python_version<"4" b', ['a; python_version<"4"', "b"]],
  ];
  for (const [text, wanted] of accepted) {
    test(JSON.stringify(text), () => assert.deepEqual(parseRequirements(text, strict), wanted));
  }
});

describe("what is no requirement is refused by name", () => {
  const refused: [string, RegExp][] = [
    ["", /No requirement/],
    [" ,\n", /No requirement/],
    ["-", /"-" is an option/],
    ["--help", /"--help" is an option/],
    ["--index-url=http://127.0.0.1:9/simple", /is an option/],
    ["-r /etc/passwd", /"-r" is an option/],
    ["iniconfig --index-url http://127.0.0.1:9/", /"--index-url" is an option/],
    ["numpy -U", /"-U" is an option/],
    ["../evil", /"..\/evil" is a path/],
    ["/tmp/x", /is a path/],
    ["~/x", /is a path/],
    ["C:\\x", /is a path/],
    ["./numpy", /is a path/],
    ["sub/numpy", /is a path/],
    ["numpy-1.0-py3-none-any.whl", /is a path/],
    ["numpy.tar.gz", /is a path/],
    ["https://example.invalid/a.whl", /is a URL/],
    ["git+https://example.invalid/r@--upload-pack=x", /is a URL/],
    ["git+ssh://git@example.invalid/r", /is a URL/],
    ["a @ https://example.invalid/a.whl", /is a URL/],
    ["a @ file:///etc/passwd", /is a URL/],
    ["a; touch /tmp/rpl", /touch/],
    ["a;rm", /a;rm/],
    ["$(touch /tmp/x)", /\$\(touch/],
    ["`id`", /`id`/],
    ["a|b", /a\|b/],
    ["a&&b", /a&&b/],
    ["a>out.txt/x", /out\.txt/],
    ["a>>b", /a>>b/],
    ["a=1", /a=1/],
    ["a==", /a==/],
    ["a>=1<2", /a>=1<2/],
    ["a[x", /a\[x/],
    ["a[x]y", /a\[x\]y/],
    ["a (>=1", /not a requirement/],
    ["a;", /a;/],
    ["a; python_version", /not a requirement/],
    ['a; python_version > "3" and', /not a requirement/],
    ['"numpy', /\\"numpy/],
    ["numpy\0", /numpy/],
    ["nümpy", /nümpy/],
    ["_a", /_a/],
    ["a.", /a\./],
    ["%pip", /%pip/],
    [`a${"(".repeat(50)}`, /not a requirement/],
    [`a; ${"(".repeat(50)}os_name=="x"${")".repeat(50)}`, /not a requirement/],
    ["a ".repeat(101), /More than 100/],
    ["a".repeat(10_001), /10001 characters/],
  ];
  for (const [text, wanted] of refused) {
    test(JSON.stringify(text.slice(0, 60)), () => assert.match(refusal(text), wanted));
  }

  test("the message says what would be right, without a full stop", () => {
    assert.match(refusal("../evil"), /; give names with optional extras and versions, such as pandas==2\.0\.0/);
    assert.doesNotMatch(refusal("../evil"), /\.$/);
  });
});

describe("URLs, when a setting allows them", () => {
  const open = { allowUrls: true };
  const accepted = [
    "a @ https://example.invalid/a-1.0-py3-none-any.whl#sha256=0a",
    "a[x] @ git+https://example.invalid/r@v1 ; os_name=='posix'",
    "git+https://example.invalid/r@v1#egg=a",
    "https://example.invalid/a.whl",
  ];
  for (const text of accepted) test(text, () => assert.equal(parseRequirements(text, open).length, 1));

  for (const text of [
    "git+https://example.invalid/r@--upload-pack=x",
    "a @ ../a",
    "a @",
    "https://x.invalid/$(id)",
    "-e .",
  ]) {
    test(`${text} stays refused`, () => void refusal(text, open));
  }
});
