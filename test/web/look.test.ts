import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser, withoutBrowser } from "./browser.ts";
import { textsWithLowContrast } from "./contrast.ts";
import { type Site, startSite } from "./site.ts";

const PHONE = { viewport: { width: 390, height: 760 }, isMobile: true, hasTouch: true } as const;

describe("the look of the pages in Chromium", { skip: withoutBrowser }, () => {
  let site: Site;
  let browser: Browser;

  before(async () => {
    [site, browser] = await Promise.all([startSite(), openBrowser()]);
    await site.session(
      "look",
      "import math\nfor n in range(3):\n    print(f'\\x1b[3{n}m{n}\\x1b[0m', 'long ' * 60)",
      "class T:\n    def _repr_html_(self): return '<table><tr><td>cell</table>'\nT()",
      "1 / 0",
      "import sys; print('careful', file=sys.stderr)",
    );
  });
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  async function open(path: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    // The loader of the tests wraps functions in this, also those that run in the page.
    await page.addInitScript("globalThis.__name = (made) => made");
    await page.goto(`${site.origin}${path}`);
    return page;
  }

  const unfold = (page: Page): Promise<void> =>
    page.evaluate(() => {
      for (const details of document.querySelectorAll("details")) details.open = true;
    });

  for (const colorScheme of ["light", "dark"] as const) {
    it(`has text that can be read, ${colorScheme}`, async () => {
      for (const path of ["/", "/s/look", "/s/look/delete"]) {
        const page = await open(path, { colorScheme });
        await unfold(page);
        assert.deepEqual(await page.evaluate(textsWithLowContrast), [], path);
        await page.context().close();
      }
    });
  }

  it("is measured by something that notices", async () => {
    const page = await open("/");
    await page.evaluate(() => document.querySelector("main")?.append(document.createElement("small")));
    await page.evaluate(() =>
      Object.assign(document.querySelector("small") ?? {}, { textContent: "pale", style: "color:#aaa" }),
    );
    assert.equal((await page.evaluate(textsWithLowContrast)).length, 1);
  });

  it("is dark where the reader prefers that", async () => {
    const ground = async (colorScheme: "light" | "dark"): Promise<string> => {
      const page = await open("/", { colorScheme });
      return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    };
    assert.notEqual(await ground("light"), await ground("dark"));
  });

  it("fits a phone: nothing but texts and tables scrolls sideways, and menus stay inside", async () => {
    for (const path of ["/", "/s/look", "/s/look/delete"]) {
      const page = await open(path, PHONE);
      await unfold(page);
      const [inner, scroll] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
      assert.equal(scroll, inner, path);
      await page.context().close();
    }
  });

  it("can be used by keyboard alone, with the focus to be seen", async () => {
    const page = await open("/s/look");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), "Skip to the blocks");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "[1]");
    await page.keyboard.press("Tab");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
    assert.equal(outline, "solid");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete block" }).first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator("details.menu[open]").waitFor({ state: "detached" });
  });

  it("has landmarks, one heading of the first level, and a name for every control", async () => {
    for (const path of ["/", "/s/look", "/s/look/delete"]) {
      const page = await open(path);
      const nameless = await page.evaluate(() =>
        [...document.querySelectorAll("a,button,summary,input:not([type=hidden]),textarea,iframe")]
          .filter((control) => {
            const named =
              control.textContent?.trim() || control.getAttribute("aria-label") || control.getAttribute("title");
            return !named && !(control as HTMLInputElement).labels?.length;
          })
          .map((control) => control.outerHTML),
      );
      assert.deepEqual(nameless, [], path);
      for (const landmark of ["h1", "main", "header"]) assert.ok((await page.locator(landmark).count()) >= 1, landmark);
      assert.equal(await page.locator("h1").count(), 1);
      assert.equal(await page.locator("main").count(), 1);
      assert.equal(await page.locator("html[lang=en]").count(), 1);
      await page.context().close();
    }
  });
});
