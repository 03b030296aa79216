import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { until } from "../helpers/process.ts";
import { openBrowser, withoutBrowser } from "./browser.ts";
import { type Site, startSite } from "./site.ts";

/** What a cell may try from its HTML; `SPY` is a server of the attacker. */
const HOSTILE = `
<script>parent.document.title = 'owned'; top.location = 'SPY/script'; fetch('SPY/fetch')</script>
<img src="SPY/picture"><img src="x" onerror="top.document.title='owned'"><svg onload="top.document.title='owned'"></svg>
<iframe src="SPY/frame"></iframe><object data="SPY/object"></object><embed src="SPY/embed">
<link rel="stylesheet" href="SPY/style"><style>@import "SPY/import"; body { background: url(SPY/ground) }</style>
<meta http-equiv="refresh" content="0;url=SPY/refresh"><base href="SPY/base/" target="_top">
<form action="/s/hostile/delete" method="post" target="_top"><button id="bait">Free</button></form>
<a id="link" href="javascript:top.document.title='owned'" target="_top">link</a><p>harmless text</p>`;

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40" onload="document.title='owned'">
<script>document.title = 'owned'; fetch('SPY/svg')</script><image href="SPY/image"/><rect width="90" height="40" fill="teal"/></svg>`;

describe("what a cell shows is powerless in Chromium", { skip: withoutBrowser }, () => {
  let site: Site;
  let browser: Browser;
  let page: Page;
  const spied: string[] = [];
  const spy = createServer((request, response) => {
    spied.push(request.url ?? "");
    response.writeHead(200, { "access-control-allow-origin": "*" }).end();
  });
  const dialogs: string[] = [];

  before(async () => {
    spy.listen(0, "127.0.0.1");
    await once(spy, "listening");
    const address = `http://127.0.0.1:${(spy.address() as AddressInfo).port}`;
    const python = (text: string): string => JSON.stringify(text.replaceAll("SPY", address));
    [site, browser] = await Promise.all([startSite(), openBrowser()]);
    await site.session(
      "hostile",
      `class H:\n    def _repr_html_(self): return ${python(HOSTILE)}\n    def __repr__(self): return 'H()'\nH()`,
      `class S:\n    def _repr_svg_(self): return ${python(SVG)}\nS()`,
      `print(${python(HOSTILE)})`,
      `# ${python(HOSTILE)}`,
      `raise ValueError(${python(HOSTILE)})`,
    );
    page = await (await browser.newContext()).newPage();
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(`${site.origin}/s/hostile`);
    await page.frameLocator("#b1 iframe").getByText("harmless text").waitFor();
  });
  after(async () => {
    await browser?.close();
    await site?.close();
    spy.close();
  });

  /** The page is the one that was opened, and has reached for nothing. */
  async function assertUntouched(): Promise<void> {
    assert.equal(page.url().replace(/#.*/, ""), `${site.origin}/s/hostile`);
    assert.equal(await page.title(), "hostile · Python");
    assert.deepEqual([spied, dialogs], [[], []]);
  }

  it("runs no script, loads nothing and leads nowhere, of itself", async () => {
    for (const box of await page.locator("article").all()) await box.scrollIntoViewIfNeeded();
    await page.waitForLoadState("networkidle");
    await assertUntouched();
    assert.equal(await page.locator("#b1 iframe").getAttribute("sandbox"), "");
  });

  it("cannot use a click, either", async () => {
    const frame = page.frameLocator("#b1 iframe");
    await frame.locator("#bait").click();
    await frame.locator("#link").click();
    await assertUntouched();
    assert.equal((await site.service.list({ owner: "local" })).length, 1);
  });

  it("shows a picture with a script as a picture, and opens it without the script", async () => {
    const picture = page.locator("#b2 img");
    assert.ok(
      await until(() => picture.evaluate((img) => (img as HTMLImageElement).naturalWidth === 90), "the picture"),
    );
    const address = await picture.evaluate((img) => (img as HTMLImageElement).src);
    const alone = await (await browser.newContext()).newPage();
    await alone.goto(address);
    assert.equal(await alone.locator("svg rect").count(), 1);
    assert.notEqual(await alone.title(), "owned");
    assert.deepEqual(spied, []);
  });

  it("stands as text where it is text", async () => {
    for (const number of [3, 4, 5]) {
      assert.equal(await page.locator(`#b${number} :is(script, img, svg, iframe, form, base, link)`).count(), 0);
      assert.match((await page.locator(`#b${number}`).textContent()) ?? "", /harmless text/);
    }
  });

  it("would be stopped by the page's policy even if it got into the page", async () => {
    await page.evaluate(() => {
      const place = document.createElement("div");
      document.body.append(place);
      place.innerHTML =
        `<img src="x:" onerror="document.title='owned'"><iframe srcdoc="<script>parent.document.title='owned'</scr` +
        `ipt>"></iframe>`;
      const script = document.createElement("script");
      script.textContent = "document.title = 'owned'";
      document.body.append(script);
    });
    const blocked = await page.evaluate(async () => {
      try {
        await fetch("http://127.0.0.1:1/", { mode: "no-cors" });
        return false;
      } catch {
        return true;
      }
    });
    assert.ok(blocked);
    await page.waitForLoadState("networkidle");
    await assertUntouched();
  });

  it("cannot be framed by another site", async () => {
    const outer = await (await browser.newContext()).newPage();
    await outer.route("http://outer.test/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<iframe src="${site.origin}/s/hostile"></iframe>` }),
    );
    const failed = outer.waitForEvent("requestfailed");
    await outer.goto("http://outer.test/");
    assert.match((await failed).url(), /\/s\/hostile$/);
  });
});
