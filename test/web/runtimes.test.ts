import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../helpers/process.ts";
import { startServer } from "../helpers/server.ts";
import { bun, denoRuntime, missing } from "../stores/runtimes.ts";
import { tokenIn } from "./site.ts";

const RUNTIMES = [
  { runtime: denoRuntime, entry: "adapters/deno.ts" },
  { runtime: bun, entry: "adapters/bun.ts" },
] as const;

describe("the pages on other runtimes", () => {
  for (const { runtime, entry } of RUNTIMES) {
    const options = { skip: missing(runtime), timeout: 60_000 };
    it(`show sessions, run code and send what changed on ${runtime.name}`, options, async () => {
      const server = await startServer({}, [runtime.program, ...runtime.run, join(ROOT, entry)]);
      try {
        const { origin } = server.url;
        const ask = async (path: string, form?: Record<string, string>) => {
          const headers = { accept: "text/html", ...(form ? { origin, "sec-fetch-site": "same-origin" } : {}) };
          const body = form ? { method: "POST", body: new URLSearchParams(form) } : {};
          const response = await fetch(`${origin}${path}`, { headers, redirect: "manual", ...body });
          return { status: response.status, headers: response.headers, text: await response.text() };
        };
        const csrf = tokenIn((await ask("/")).text);
        assert.equal((await ask("/sessions", { csrf, session_id: "there" })).headers.get("location"), "/s/there");
        assert.equal((await ask("/s/there/run", { csrf, code: "6 * 7" })).status, 303);
        assert.match((await ask("/s/there")).text, /<pre class="text value">42<\/pre>/);
        assert.equal(JSON.parse((await ask("/s/there/live?from=0")).text).total, 1);
        assert.equal((await ask("/s/there/run", { csrf: "", code: "1" })).status, 403);
        assert.match((await ask("/s/there/export/ipynb")).headers.get("content-disposition") ?? "", /there\.ipynb/);
      } finally {
        await server.stop();
      }
    });
  }
});
