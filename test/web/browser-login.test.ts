import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { ownerOf } from "../../src/auth/principal.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { openBrowser, withoutBrowser } from "./browser.ts";
import { type Site, startSite } from "./site.ts";

describe("a login in Chromium", { skip: withoutBrowser }, () => {
  const token = newToken();
  let site: Site;
  let browser: Browser;
  let page: Page;

  before(async () => {
    const entry = `alice:${toHex(await sha256(token))}`;
    [site, browser] = await Promise.all([startSite({ REPL_AUTH: "token", REPL_TOKENS: entry }), openBrowser()]);
    await site.service.create({ owner: await ownerOf(["token", "alice"]), name: "alice" }, { id: "private" });
    page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(15_000);
  });
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  it("is asked for, refuses a wrong token, and leads to the page that was wanted", async () => {
    await page.goto(`${site.origin}/s/private`);
    await page.getByLabel("Token").fill(newToken());
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("This token is not known, or has expired.").waitFor();
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/s/private");
    await page.getByRole("heading", { name: "private" }).waitFor();
  });

  it("runs code under the name of the token", async () => {
    await page.getByLabel("Python code").fill("6 * 7");
    await page.keyboard.press("Control+Enter");
    await page.locator("#b1 pre.value", { hasText: "42" }).waitFor();
  });

  it("is a cookie that no script can read", async () => {
    assert.equal(await page.evaluate(() => document.cookie), "");
    const [cookie] = await page.context().cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, "Strict"]);
  });

  it("counts for a reader who comes by a link of another site, and not for forms of that site", async () => {
    const form = `<form method="post" action="${site.origin}/s/private/run"><input name="code" value="1"><button>Win</button></form>`;
    const body = `<a href="${site.origin}/s/private">See this</a>${form}`;
    await page.route("http://other.test/", (route) => route.fulfill({ contentType: "text/html", body }));
    await page.goto("http://other.test/");
    await page.getByText("See this").click();
    await page.getByRole("heading", { name: "private" }).waitFor();
    await page.goto("http://other.test/");
    const answer = page.waitForResponse("**/run");
    await page.getByText("Win").click();
    assert.equal((await answer).status(), 403);
  });

  it("is noticed when it has ended while the page is open", async () => {
    await page.goto(`${site.origin}/s/private`);
    await page.context().clearCookies();
    await page.getByText("You are no longer logged in; load the page again.").waitFor();
  });

  it("ends by its button", async () => {
    await page.goto(`${site.origin}/login`);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL("**/login");
    assert.deepEqual(await page.context().cookies(), []);
  });
});
