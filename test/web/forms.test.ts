import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { until } from "../helpers/process.ts";
import { type Site, startSite, tokenIn, visit } from "./site.ts";

let site: Site;
let csrf = "";
before(async () => {
  site = await startSite();
  csrf = tokenIn((await visit(site, "/")).text);
});
after(() => site?.close());

const LOCAL = { owner: "local" };
const post = (path: string, form: Record<string, string> = {}) => visit(site, path, { form: { csrf, ...form } });
const codes = async (id: string): Promise<string[]> =>
  (await site.service.history(LOCAL, id, {})).entries.map(({ block }) => block.code);

describe("forms, as a browser without scripts sends them", () => {
  it("make a session, with a name or without", async () => {
    assert.equal((await post("/sessions", { session_id: "named" })).location, "/s/named");
    assert.match((await post("/sessions", { session_id: "" })).location ?? "", /^\/s\/[a-z0-9]{8}$/);
    const taken = await post("/sessions", { session_id: "named" });
    assert.equal(taken.status, 409);
    assert.match(taken.text, /id="notice"[^>]*class="problem">[^<]*already/);
  });

  it("run code and come back to what it gave", async () => {
    await site.session("runs");
    const answer = await post("/s/runs/run", { code: "x = 6\r\nx * 7" });
    assert.deepEqual([answer.status, answer.location], [303, "/s/runs#new"]);
    assert.deepEqual(await codes("runs"), ["x = 6\nx * 7"]);
    assert.match((await visit(site, "/s/runs")).text, /<pre class="text value">42<\/pre>/);
  });

  it("do not wait for code that runs long, and interrupt it", async () => {
    await site.session("long");
    const begun = performance.now();
    assert.equal((await post("/s/long/run", { code: "import time; time.sleep(60)" })).status, 303);
    assert.ok(performance.now() - begun < 10_000);
    const page = (await visit(site, "/s/long")).text;
    assert.match(page, /data-status="running"/);
    assert.match(page, /<noscript><meta http-equiv="refresh" content="3"><\/noscript>/);
    assert.equal((await post("/s/long/interrupt")).location, "/s/long");
    await until(async () => /cancelled/.test((await visit(site, "/s/long")).text), "the block to end");
  });

  it("give code back that the server refused to run", async () => {
    await site.session("refused");
    const code = `# </textarea><b>\n${"x".repeat(4 * 1024 * 1024)}`;
    const answer = await post("/s/refused/run", { code });
    assert.equal(answer.status, 413);
    assert.match(answer.text, /class="problem">The code has \d+ bytes, more than the limit/);
    assert.match(answer.text, /<textarea[^>]*>\n# &lt;\/textarea&gt;&lt;b&gt;\nxxx/);
  });

  it("run a block again, rerun up to it, and delete it", async () => {
    await site.session("menu", "n = 1", "n += 1", "n");
    await post("/s/menu/blocks/1/run-again");
    assert.deepEqual(await codes("menu"), ["n = 1", "n += 1", "n", "n += 1"]);
    await post("/s/menu/blocks/1/rerun");
    assert.match((await visit(site, "/s/menu")).text, /Ran 2 blocks in a fresh interpreter, output as before\./);
    await post("/s/menu/blocks/0/delete");
    assert.deepEqual(await codes("menu"), ["n += 1", "n", "n += 1"]);
    const gone = await post("/s/menu/blocks/0/delete");
    assert.deepEqual([gone.status, /no longer in the history/.test(gone.text)], [400, true]);
  });

  it("rerun and restart the session", async () => {
    await site.session("again", "n = 1");
    await post("/s/again/restart");
    assert.match((await visit(site, "/s/again")).text, /not in memory/);
    await post("/s/again/rerun");
    assert.doesNotMatch((await visit(site, "/s/again")).text, /not in memory/);
  });

  it("delete a session after asking", async () => {
    await site.session("doomed", "1");
    const asked = await visit(site, "/s/doomed/delete");
    assert.match(asked.text, /its 1 block of history will be gone for good/);
    assert.equal((await post("/s/doomed/delete")).location, "/");
    const gone = await visit(site, "/s/doomed");
    assert.equal(gone.status, 404);
    assert.match(gone.text, /Session &quot;doomed&quot; not found/);
  });

  it("are refused unless a page of this server sent them", async () => {
    await site.session("guarded");
    const run = (headers: Record<string, string>, token = csrf) =>
      visit(site, "/s/guarded/run", { form: { csrf: token, code: "1" }, headers });
    for (const [what, answer] of Object.entries({
      "another site": await run({ origin: "https://evil.example", "sec-fetch-site": "cross-site" }),
      "another port of this machine": await run({ origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" }),
      "a file": await run({ origin: "null" }),
      "a forged origin without the page's token": await run({}, ""),
      "another page's token": await run({}, `${csrf.slice(0, -2)}AA`),
      "another host name": await run({ host: "evil.example" }),
    })) {
      assert.equal(answer.status, 403, what);
    }
    assert.deepEqual(await codes("guarded"), []);
  });

  it("lead back to the session when their address is loaded", async () => {
    assert.equal((await visit(site, "/s/guarded/run")).location, "/s/guarded");
  });

  it("are refused when they are no forms", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await visit(site, "/s/guarded/run", { form: { csrf, code: "1" }, headers });
    assert.equal(answer.status, 413);
  });
});

describe("what a page gives away", () => {
  it("is exported as files", async () => {
    await site.session("files", "print('hello')", "1/0");
    for (const [format, type, content] of [
      ["ipynb", "application/x-ipynb+json", /"nbformat": ?4/],
      ["html", "text/html", /<!doctype html>/],
      ["md", "text/markdown", /```python/],
      ["txt", "text/plain", /\[1\] print\('hello'\)/],
      ["json", "application/json", /"blocks"/],
      ["py", "text/x-python", /^print\('hello'\)$/m],
    ] as const) {
      const { status, headers, text } = await visit(site, `/s/files/export/${format}`);
      assert.equal(status, 200);
      assert.equal(headers.get("content-type"), `${type}; charset=utf-8`);
      assert.equal(headers.get("content-disposition"), `attachment; filename="files.${format}"`);
      assert.match(text, content);
    }
    assert.equal((await visit(site, "/s/files/export/exe")).status, 400);
  });

  it("is a whole output, as text and nothing else", async () => {
    await site.session("whole", "print('<script>alert(1)</script>' + 'x' * 200_000)");
    const { text, headers } = await visit(site, "/s/whole/blocks/0/output");
    assert.equal(headers.get("content-type"), "text/plain; charset=utf-8");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.ok(text.length > 200_000);
  });

  it("comes with headers that let nothing in", async () => {
    const { headers } = await visit(site, "/");
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self';/);
    for (const part of ["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(part));
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
  });

  it("keeps style and script in the browser until they change", async () => {
    const page = (await visit(site, "/")).text;
    for (const path of [/href="(\/assets\/page\.css\?v=\w+)"/, /src="(\/assets\/page\.js\?v=\w+)"/]) {
      const { status, headers, text } = await visit(site, path.exec(page)?.[1] ?? "");
      assert.deepEqual([status, headers.get("cache-control")], [200, "public, max-age=31536000, immutable"]);
      assert.ok(text.length > 1000 && text.length < 30_000);
    }
  });
});

describe("long histories", () => {
  it("are shown from their end, older blocks behind a link", async () => {
    await site.session("many");
    for (let n = 0; n < 53; n++) await site.run("many", `${n}`);
    const last = (await visit(site, "/s/many")).text;
    assert.equal(last.match(/<article /g)?.length, 50);
    assert.match(last, /<a href="\/s\/many\?before=3">Older blocks \(3\)<\/a>/);
    const first = (await visit(site, "/s/many?before=3")).text;
    assert.equal(first.match(/<article /g)?.length, 3);
    assert.match(first, /<a href="\/s\/many">Newest blocks<\/a>/);
    assert.doesNotMatch(first, /data-live|id="new"/);
  });

  it("do not make a large page, whatever was printed or shown", async () => {
    const html = "class H:\n  def _repr_html_(self): return '<p>' + 'h' * 900_000\n  def __repr__(self): return 'H()'";
    const flood = "import sys\nfor n in range(30_000): print(n, 'x' * 20); print(n, file=sys.stderr)";
    await site.session(
      "large",
      flood,
      "print('y' * 3_000_000)",
      `${html}\ndisplay(H(), H(), H())`,
      `"""${"z".repeat(500_000)}"""`,
    );
    const { text } = await visit(site, "/s/large");
    assert.ok(text.length < 3_500_000, `${text.length}`);
    assert.match(text, /characters omitted/);
    assert.equal(text.match(/<iframe/g)?.length, 1, "the first fits, the others are shown by their text");
    assert.match(text, /<pre class="text shown">H\(\)<\/pre>/);
  });

  it("link pictures, which are sent by themselves", async () => {
    const code =
      "class P:\n  def _repr_png_(self):\n    import zlib, struct, os\n    w, h = 1000, 1000\n    raw = b''.join(b'\\0' + os.urandom(w * 3) for _ in range(h))\n    chunk = lambda t, d: struct.pack('>I', len(d)) + t + d + struct.pack('>I', zlib.crc32(t + d))\n    return b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(raw, 0)) + chunk(b'IEND', b'')\nP()";
    await site.session("picture", code);
    const page = (await visit(site, "/s/picture")).text;
    assert.ok(page.length < 20_000, `${page.length}`);
    const source = /<img src="([^"]+)"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const { status, headers, text } = await visit(site, source);
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "image/png");
    assert.match(headers.get("content-security-policy") ?? "", /sandbox/);
    assert.ok(text.length > 1_000_000);
    assert.equal((await visit(site, source.replace("pictures/0", "pictures/1"))).status, 400);
  });

  it("say what is missing where a picture was too large to keep", async () => {
    await site.session(
      "huge",
      "class P:\n  def _repr_png_(self): return b'\\x89PNG' + b'x' * 20_000_000\n  def __repr__(self): return 'P()'\nP()",
    );
    const { text } = await visit(site, "/s/huge");
    assert.doesNotMatch(text, /<img/);
    assert.match(text, /A picture is left out: it is too large/);
  });
});
