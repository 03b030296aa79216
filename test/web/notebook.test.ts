import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { withoutBrowser } from "./browser.ts";
import { type Notebook, openNotebook } from "./notebook.ts";

describe("the notebook page in Chromium", { skip: withoutBrowser }, () => {
  let notebook: Notebook;
  let { site, page, see, block } = {} as Notebook;

  before(async () => {
    notebook = await openNotebook();
    ({ site, page, see, block } = notebook);
  });
  after(() => notebook?.close());

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

  it("works without scripts", async () => {
    const plain = await notebook.newPage({ javaScriptEnabled: false });
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
    assert.deepEqual(notebook.faults, []);
    assert.deepEqual(
      site.logged.filter((line) => /failed/.test(line)),
      [],
    );
  });
});
