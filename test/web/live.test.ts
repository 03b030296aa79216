import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { withoutBrowser } from "./browser.ts";
import { type Notebook, openNotebook } from "./notebook.ts";

describe("the notebook page while things change, in Chromium", { skip: withoutBrowser }, () => {
  let notebook: Notebook;
  let { site, page, see, block } = {} as Notebook;

  before(async () => {
    notebook = await openNotebook();
    ({ site, page, see, block } = notebook);
  });
  after(() => notebook?.close());

  it("shows a running block as it prints, and interrupts it", async () => {
    await site.session("live", "n = 0");
    await see("live");
    const code = "import time\nwhile True:\n    n += 1\n    print(f'step {n}', flush=True)\n    time.sleep(.1)";
    await page.getByLabel("Python code").fill(code);
    await page.keyboard.press("Control+Enter");
    await block(2).getByText("step 3").waitFor();
    await block(2).getByText("step 9").waitFor();
    assert.match((await page.locator("#facts").textContent()) ?? "", /^running/);
    assert.equal(await block(2).getAttribute("data-status"), "running");
    await page.locator("#interrupt").click();
    await page.locator('#b2[data-status="cancelled"]').waitFor();
    await block(2).getByText("variables are kept").waitFor();
    await page.locator("#interrupt:disabled").waitFor();
    await page.getByLabel("Python code").fill("time.sleep(60)");
    await page.keyboard.press("Control+Enter");
    await block(3).getByRole("button", { name: "Interrupt" }).click();
    await page.locator('#b3[data-status="cancelled"]').waitFor();
  });

  it("shows what an agent does at the same time, and keeps what the reader unfolded", async () => {
    await site.session("shared", "def f():\n    return 1 / 0\nf()");
    await see("shared");
    await block(1).locator("summary", { hasText: "ZeroDivisionError" }).click();
    await block(1).getByText("Traceback (most recent call last)").waitFor();
    await site.run("shared", "'from elsewhere'");
    await block(2).locator("pre.value", { hasText: "'from elsewhere'" }).waitFor();
    assert.ok(await block(1).getByText("Traceback (most recent call last)").isVisible());
  });

  it("lists sessions as they come, change and go", async () => {
    await page.goto(site.origin);
    await site.session("arrives");
    const row = page.locator("li", { hasText: "arrives" });
    await row.getByText("0 blocks").waitFor();
    await site.run("arrives", "1");
    await row.getByText("1 block").waitFor();
    await site.service.remove({ owner: "local" }, "arrives");
    await row.waitFor({ state: "detached" });
  });

  it("says so when the session disappears while it is shown", async () => {
    await site.session("vanishes", "1");
    await see("vanishes");
    await site.service.remove({ owner: "local" }, "vanishes");
    await page.getByText("This session is gone: it was deleted while the page was open.").waitFor();
    assert.ok(await page.getByRole("button", { name: "Run", exact: true }).isDisabled());
    assert.ok(await block(1).isVisible(), "what was shown can still be read");
  });

  it("says so while the server does not answer, and goes on when it does", async () => {
    await site.session("outage", "1");
    await see("outage");
    await page.route("**/live**", (route) => route.abort());
    await page.getByText("The server does not answer; trying again.").waitFor();
    await page.unroute("**/live**");
    await site.run("outage", "'back'");
    await block(2).locator("pre.value", { hasText: "'back'" }).waitFor();
    assert.equal(await page.locator("#notice").textContent(), "");
  });

  it("gives code back that was refused", async () => {
    await site.session("early", "1");
    await see("early");
    await page.route("**/run", (route) => route.abort());
    await page.getByLabel("Python code").fill("precious = 1");
    await page.keyboard.press("Control+Enter");
    await page.getByText("The server does not answer; nothing was sent.").waitFor();
    assert.equal(await page.getByLabel("Python code").inputValue(), "precious = 1");
    await page.unroute("**/run");
  });

  it("had no error of its own in all of this", () => {
    assert.deepEqual(notebook.faults, []);
    assert.deepEqual(
      site.logged.filter((line) => /failed/.test(line)),
      [],
    );
  });
});
