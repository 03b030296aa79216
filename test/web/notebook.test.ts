import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser, withoutBrowser } from "./browser.ts";
import { type Site, startSite } from "./site.ts";

describe("the notebook page in Chromium", { skip: withoutBrowser }, () => {
  let site: Site;
  let browser: Browser;
  let page: Page;
  /** What went wrong in the page, by its own words. */
  const faults: string[] = [];

  before(async () => {
    [site, browser] = await Promise.all([startSite(), openBrowser()]);
    page = await newPage();
  });
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  async function newPage(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
    context.setDefaultTimeout(15_000);
    const made = await context.newPage();
    made.on("pageerror", (error) => faults.push(error.message));
    return made;
  }

  const see = (id: string, on = page): Promise<unknown> => on.goto(`${site.origin}/s/${id}`);
  const block = (number: number, on = page) => on.locator(`#b${number}`);
  const menu = async (number: number, name: string): Promise<void> => {
    await block(number).getByLabel(`Actions for block ${number}`).click();
    await block(number).getByRole("button", { name }).click();
  };
  const accept = (): Promise<string> =>
    new Promise((resolve) =>
      page.once("dialog", (dialog) => {
        resolve(dialog.message());
        void dialog.accept();
      }),
    );

  it("runs what is typed, by the button and by the keyboard, without leaving the page", async () => {
    await site.session("typed");
    await see("typed");
    await page.evaluate("globalThis.stayed = true");
    await page.getByLabel("Python code").fill("x = 6 * 7\nx");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await block(1).getByText("42", { exact: true }).waitFor();
    assert.equal(await page.getByLabel("Python code").inputValue(), "");
    await page.getByLabel("Python code").fill("x + 1");
    await page.keyboard.press("Control+Enter");
    await block(2).getByText("43", { exact: true }).waitFor();
    assert.equal(await page.locator("#new .number").textContent(), "[3]");
    assert.equal(await page.evaluate("globalThis.stayed"), true);
  });

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

  it("reruns, restarts, runs again and deletes, each after asking where something is lost", async () => {
    await site.session("buttons", "import random", "r = random.random(); r", "1");
    await see("buttons");
    let asked = accept();
    await page.getByRole("button", { name: "Restart" }).click();
    assert.match(await asked, /Variables are lost/);
    await block(2).getByText("not in memory").waitFor();
    asked = accept();
    await page.getByRole("button", { name: "Rerun all" }).click();
    assert.match(await asked, /run all blocks again\?/);
    await page.getByText("Ran 3 blocks in a fresh interpreter, other output in 1 block.").waitFor();
    await menu(3, "Run again as new block");
    await block(4).waitFor();
    await menu(2, "Rerun everything up to here");
    await page.getByText("Ran 2 blocks in a fresh interpreter").waitFor();
    await block(3).getByText("not in memory").waitFor();
    asked = accept();
    await menu(1, "Delete block");
    assert.equal(await asked, "Delete block 1?");
    await block(4).waitFor({ state: "detached" });
    assert.match((await block(1).textContent()) ?? "", /r = random\.random/);
  });

  it("does nothing when the question is answered with no", async () => {
    await site.session("kept", "1");
    await see("kept");
    page.once("dialog", (dialog) => void dialog.dismiss());
    await menu(1, "Delete block");
    await site.run("kept", "2");
    await block(2).waitFor();
    assert.equal(await page.locator("article").count(), 2);
  });

  it("exports by links that save a file", async () => {
    await site.session("saved", "print('saved')");
    await see("saved");
    await page.getByText("Export", { exact: true }).click();
    for (const [name, file] of [
      ["Jupyter notebook", "saved.ipynb"],
      ["Python script", "saved.py"],
    ] as const) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
      assert.equal(download.suggestedFilename(), file);
      assert.match(await readFile(await download.path(), "utf8"), /print\('saved'\)/);
    }
  });

  it("makes and deletes sessions", async () => {
    await page.goto(site.origin);
    await page.getByLabel("New session").fill("made-here");
    await page.getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/s/made-here");
    await page.getByText("No block has run yet.").waitFor();
    await page.getByRole("link", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete the session" }).click();
    await page.waitForURL(`${site.origin}/`);
    assert.equal(await page.getByText("made-here").count(), 0);
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

  it("works without scripts", async () => {
    const plain = await newPage({ javaScriptEnabled: false });
    await site.session("plain", "1");
    await see("plain", plain);
    await plain.locator("#code").fill("for i in range(2):\n    print('plain', i)");
    await plain.getByRole("button", { name: "Run", exact: true }).click();
    await block(2, plain).getByText("plain 1").waitFor();
    await block(1, plain).getByText("⋯").click();
    await block(1, plain).getByRole("button", { name: "Delete block" }).click();
    await plain.locator("#b2").waitFor({ state: "detached" });
    await plain.locator("#code").fill("import time; time.sleep(60)");
    await plain.getByRole("button", { name: "Run", exact: true }).click();
    await plain.locator("#interrupt").click();
    await plain.getByText("cancelled").first().waitFor();
    await plain.context().close();
  });

  it("had no error of its own in all of this", () => {
    assert.deepEqual(faults, []);
    assert.deepEqual(
      site.logged.filter((line) => /failed/.test(line)),
      [],
    );
  });
});
