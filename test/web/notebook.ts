import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { openBrowser } from "./browser.ts";
import { type Site, startSite } from "./site.ts";

/** A server and a browser that looks at it. */
export type Notebook = {
  readonly site: Site;
  readonly page: Page;
  /** What went wrong in pages, by their own words. */
  readonly faults: readonly string[];
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /** Opens a session, in the first page unless told. */
  see(id: string, on?: Page): Promise<unknown>;
  block(number: number, on?: Page): Locator;
  close(): Promise<void>;
};

export async function openNotebook(): Promise<Notebook> {
  const [site, browser] = await Promise.all([startSite(), openBrowser()]);
  const faults: string[] = [];
  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
    context.setDefaultTimeout(15_000);
    const made = await context.newPage();
    made.on("pageerror", (error) => faults.push(error.message));
    return made;
  }
  const page = await newPage();
  return {
    site,
    page,
    faults,
    newPage,
    see: (id, on = page) => on.goto(`${site.origin}/s/${id}`),
    block: (number, on = page) => on.locator(`#b${number}`),
    async close() {
      await browser.close();
      await site.close();
    },
  };
}
