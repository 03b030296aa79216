import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { build } from "esbuild";
import type { Browser, FrameLocator, Page } from "playwright-core";
import { ROOT } from "../helpers/process.ts";
import { openBrowser, withoutBrowser } from "./browser.ts";
import type { Chat } from "./chat-host.ts";
import { type Site, startSite } from "./site.ts";

type Reply = Parameters<Chat["result"]>[0];
declare const chat: Chat;

describe("the view inside a chat", () => {
  let site: Site;
  let client: Client;
  let html = "";

  before(async () => {
    site = await startSite();
    client = new Client({ name: "chat", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", site.origin)) as never);
    await site.session("chat");
  });
  after(async () => {
    await client?.close();
    await site?.close();
  });

  const call = async (name: string, args: Record<string, unknown>): Promise<Reply> =>
    (await client.callTool({ name, arguments: { session_id: "chat", ...args } })) as Reply;

  it("is named by the tools that run code, and by no other", async () => {
    const { tools } = await client.listTools();
    const named = tools.filter((tool) => getToolUiResourceUri(tool as never) !== undefined).map(({ name }) => name);
    assert.deepEqual(named, ["run_code", "run_file", "rerun_code"]);
  });

  it("is a resource that hosts read, complete in itself", async () => {
    const { tools } = await client.listTools();
    const uri = getToolUiResourceUri(tools.find(({ name }) => name === "run_code") as never) ?? "";
    const { contents } = await client.readResource({ uri });
    const [content] = contents;
    assert.equal(content?.mimeType, "text/html;profile=mcp-app");
    assert.deepEqual(content?._meta, { ui: { prefersBorder: false } });
    html = String((content as { text?: string }).text);
    const [markup = ""] = html.split("<script>");
    assert.ok(!/\b(?:src|href|url|import)\b/.test(markup), "It loads nothing");
    assert.equal(html.match(/<\/script>/g)?.length, 1);
    assert.ok(html.length < 50_000, `${html.length}`);
  });

  it("is not listed, so that hosts without views see no difference", async () => {
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.filter(({ uri }) => uri.startsWith("ui:")),
      [],
    );
  });

  describe("in the package's own host, in Chromium", { skip: withoutBrowser }, () => {
    let browser: Browser;
    let page: Page;
    let view: FrameLocator;
    const faults: string[] = [];

    before(async () => {
      browser = await openBrowser();
      page = await (await browser.newContext({ viewport: { width: 720, height: 800 } })).newPage();
      page.setDefaultTimeout(10_000);
      page.on("pageerror", (error) => faults.push(error.message));
      const { outputFiles } = await build({
        absWorkingDir: ROOT,
        entryPoints: ["test/web/chat-host.ts"],
        bundle: true,
        write: false,
        format: "iife",
      });
      const script = outputFiles[0]?.text.replaceAll("</script", "<\\/script") ?? "";
      const body = `<!doctype html><title>chat</title><body><script>${script}</script>`;
      await page.route("http://chat.test/", (route) =>
        route.fulfill({ contentType: "text/html; charset=utf-8", body }),
      );
      await page.goto("http://chat.test/");
      view = page.frameLocator("iframe");
    });
    after(() => browser?.close());

    const open = (theme: "light" | "dark" = "light") =>
      page.evaluate(([text, how]) => chat.open(text, how), [html, theme] as const);
    const show = async (args: Record<string, unknown>, reply: Reply): Promise<void> => {
      await open();
      await page.evaluate((given) => chat.input(given), args);
      await page.evaluate((given) => chat.result(given), reply);
    };

    it("introduces itself, and reports its size", async () => {
      assert.deepEqual(await open(), { name: "edge-python-repl", modes: ["inline", "fullscreen"] });
      await page.evaluate(() => chat.input({ code: "1\n2\n3" }));
      await page.waitForFunction(() => (chat.heights.at(-1) ?? 0) > 80);
    });

    it("shows the code while it comes and while it runs", async () => {
      await open();
      await page.evaluate(() => chat.partial({ code: "for n in ran" }));
      await view.getByText("for n in ran").waitFor();
      await page.evaluate(() => chat.input({ code: "for n in range(3):\n    print(n)" }));
      await view.locator(".k", { hasText: "for" }).waitFor();
      assert.match((await view.locator("article header").textContent()) ?? "", /^\[\*\]running/);
    });

    it("shows what came of it: output in colours, the value, the time", async () => {
      const code = "import sys\nprint('\\x1b[31mred\\x1b[0m')\nprint('careful', file=sys.stderr)\n6 * 7";
      await show({ code }, await call("run_code", { code }));
      await view.locator("pre.stdout .fg-1", { hasText: "red" }).waitFor();
      assert.equal(await view.locator("pre.stderr").textContent(), "careful");
      assert.equal(await view.locator("pre.value").textContent(), "42");
      assert.match((await view.locator("article header").textContent()) ?? "", /^\[1\].*(ms|s)$/);
    });

    it("shows a picture, and what it is", async () => {
      const code = `class P:\n    def _repr_svg_(self): return '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>'\n    def __repr__(self): return '<a drawing>'\nP()`;
      await show({ code }, await call("run_code", { code }));
      const picture = view.locator("figure img");
      await page.waitForFunction(() => (chat.heights.at(-1) ?? 0) > 0);
      assert.equal(await picture.getAttribute("alt"), "<a drawing>");
      assert.equal(await view.locator("pre.value").count(), 0);
      await picture.evaluate((img) => (img as HTMLImageElement).decode());
    });

    it("shows a data frame as a table", async () => {
      const table = { schema: { fields: [{ name: "city", type: "string" }] }, data: [{ city: "Köln" }] };
      const code = `class D:\n    def _repr_mimebundle_(self, include=None, exclude=None):\n        return {'text/plain': 'D', 'application/vnd.dataresource+json': ${JSON.stringify(JSON.stringify(table))}}\nD()`;
      await show({ code }, await call("run_code", { code }));
      await view.locator("td", { hasText: "Köln" }).waitFor();
      await view.getByText("1 row × 1 column").waitFor();
    });

    it("folds an error to the line that matters", async () => {
      await show({ code: "1 / 0" }, await call("run_code", { code: "1 / 0" }));
      await view.locator("summary", { hasText: "ZeroDivisionError: division by zero" }).click();
      await view.getByText("Traceback (most recent call last)").waitFor();
    });

    it("says when state was lost, and when a call was refused or cancelled", async () => {
      const code = "import os; os._exit(3)";
      await show({ code }, await call("run_code", { code }));
      await view.getByText("variables are lost").waitFor();
      await show({ code: "1" }, await call("run_code", { session_id: "nobody", code: "1" }));
      await view.getByText('Session "nobody" not found').waitFor();
      await open();
      await page.evaluate(() => chat.cancelled());
      await view.getByText("cancelled").waitFor();
    });

    it("shows blocks that ran again, and whose output differs", async () => {
      await site.session("again", "import random; random.random()", "'same'");
      const reply = await call("rerun_code", { session_id: "again" });
      await show({ session_id: "again" }, reply);
      await view.locator("article").nth(1).waitFor();
      assert.equal(await view.getByText("Output differs from before").count(), 1);
      assert.equal(await view.locator("pre.value").nth(1).textContent(), "'same'");
    });

    it("shows the text of a reply that has nothing else", async () => {
      await show({ code: "1" }, { content: [{ type: "text", text: "[1] 1\n1" }] });
      await view.getByText("[1] 1").waitFor();
    });

    it("follows the theme of the chat", async () => {
      const colour = () => view.locator("main").evaluate((main) => getComputedStyle(main).color);
      await open("dark");
      await page.evaluate(() => chat.input({ code: "1" }));
      await view.locator("article").waitFor();
      const dark = await colour();
      await page.evaluate(() => chat.theme("light"));
      await view.locator('html[data-theme="light"]').waitFor();
      assert.notEqual(await colour(), dark);
    });

    it("runs nothing of what it shows", async () => {
      const evil = "</script><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
      const code = `print(${JSON.stringify(evil)}); ${JSON.stringify(evil)}`;
      await show({ code }, await call("run_code", { code }));
      await view.locator("pre.stdout").waitFor();
      assert.equal(await view.locator("main img, main script").count(), 0);
      assert.equal(await view.locator("title").textContent(), "Python");
    });

    it("lets itself be taken away", async () => {
      await page.evaluate(() => chat.teardown());
      assert.deepEqual(faults, []);
    });
  });
});
