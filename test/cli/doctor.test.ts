import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { doctorCommand } from "../../adapters/cli/doctor.ts";
import { type DoctorProbes, machineProbes } from "../../adapters/cli/doctor-probes.ts";
import type { CliIo } from "../../adapters/cli/setup-io.ts";

type Check = { readonly id: string; readonly status: string; readonly message: string; readonly fix?: string };

const FOLDER = await mkdtemp(join(tmpdir(), "doctor-test-"));
after(() => rm(FOLDER, { recursive: true, force: true }));

const PYTHON = {
  executable: "/usr/bin/python3",
  version: "3.12.1",
  externallyManaged: false,
  hasPip: true,
  uv: undefined,
};

/** A machine on which all is well and nothing real is touched. */
function healthy(over: Partial<DoctorProbes> = {}): DoctorProbes {
  return {
    ...machineProbes(),
    runtime: { name: "Node", version: "20.18.1" },
    findPython: async () => PYTHON,
    tryStore: async () => "/data",
    tryListen: async () => {},
    fetch: async () => Response.json([]),
    now: () => Date.UTC(2027, 0, 1),
    ...over,
  };
}

async function doctor(env: CliIo["env"], probes: DoctorProbes, args: readonly string[] = ["--json"]) {
  let out = "";
  let err = "";
  const io: CliIo = {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin: (async function* () {})(),
    env,
    home: FOLDER,
    platform: "linux",
  };
  const code = await doctorCommand(args, io, probes);
  return { code, out, err };
}

/** The findings of one check, and the exit code. */
async function check(id: string, env: CliIo["env"], over: Partial<DoctorProbes> = {}) {
  const { code, out } = await doctor(env, healthy(over));
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Check[] };
  assert.equal(code, ok ? 0 : 1);
  return { code, found: checks.filter((each) => each.id === id) };
}

function failure(code: string): () => Promise<never> {
  return async () => {
    throw Object.assign(new Error(code), { code });
  };
}

describe("a machine on which all is well", () => {
  it("gets one line per check and exit 0", async () => {
    const { code, out } = await doctor({}, healthy(), []);
    assert.equal(code, 0);
    assert.equal(
      out,
      `ok    settings  All settings are sound
ok    runtime   Node 20.18.1
ok    python    Python 3.12.1 (/usr/bin/python3)
ok    python    pip is there; install_package installs into this Python
ok    store     History can be kept in /data
ok    port      Port 8000 of 127.0.0.1 is free
ok    access    No token needed; only programs of this machine can connect
skip  e2b       E2B_API_KEY is not set; only REPL_BACKEND=e2b needs it
Ready
`,
    );
  });

  it("says what to do on a line of its own when something is wrong, and exits 1", async () => {
    const { code, out } = await doctor({}, healthy({ runtime: { name: "Node", version: "18.20.0" } }), []);
    assert.equal(code, 1);
    assert.match(out, /\nFAIL {2}runtime {3}Node 18.20.0 is too old\n {16}→ Install Node 20.18.1 or newer\n/);
    assert.match(out, /\n1 to correct before the server can work\n$/);
  });

  it("refuses an unknown option with exit 2, and explains itself", async () => {
    assert.equal((await doctor({}, healthy(), ["--frob"])).code, 2);
    assert.match((await doctor({}, healthy(), ["--help"])).out, /^Usage: edge-python-repl doctor/);
  });
});

describe("settings", () => {
  it("names a bad one and goes on with the defaults", async () => {
    const { code, found } = await check("settings", { MCP_PORT: "many" });
    assert.equal(code, 1);
    assert.match(found[0]?.message ?? "", /^MCP_PORT /);
    assert.equal((await check("port", { MCP_PORT: "many" })).found[0]?.message, "Port 8000 of 127.0.0.1 is free");
  });

  it("names an unknown one", async () => {
    const { found } = await check("settings", { REPL_PYHTON: "x" });
    assert.match(found[0]?.message ?? "", /REPL_PYHTON/);
  });
});

describe("runtime", () => {
  for (const [version, status] of [
    ["20.18.0", "fail"],
    ["20.18.1", "ok"],
    ["20.9.9", "fail"],
    ["22.0.0", "ok"],
    ["24.1.0-nightly", "ok"],
  ] as const) {
    it(`Node ${version} → ${status}`, async () => {
      assert.equal((await check("runtime", {}, { runtime: { name: "Node", version } })).found[0]?.status, status);
    });
  }
  it("Bun and Deno have versions of their own", async () => {
    assert.equal((await check("runtime", {}, { runtime: { name: "Bun", version: "1.4.5" } })).found[0]?.status, "ok");
  });
});

describe("python", () => {
  it("tells what is wrong and what to do when none is found", async () => {
    const findPython = async () => {
      throw new Error(
        "No python3 or python was found on PATH; install Python 3.9 or newer, or set REPL_PYTHON to the path of one",
      );
    };
    const { code, found } = await check("python", {}, { findPython });
    assert.equal(code, 1);
    assert.deepEqual(found, [
      {
        id: "python",
        status: "fail",
        message: "No python3 or python was found on PATH",
        fix: "Install Python 3.9 or newer, or set REPL_PYTHON to the path of one",
      },
    ]);
  });

  it("warns when nothing can install packages", async () => {
    const { code, found } = await check("python", {}, { findPython: async () => ({ ...PYTHON, hasPip: false }) });
    assert.equal(code, 0);
    assert.equal(found[1]?.status, "warn");
    assert.match(found[1]?.fix ?? "", /ensurepip/);
  });

  it("takes uv where there is no pip, and says where packages go", async () => {
    const findPython = async () => ({ ...PYTHON, hasPip: false, uv: "/usr/bin/uv", externallyManaged: true });
    const { found } = await check("python", {}, { findPython });
    assert.equal(
      found[1]?.message,
      "uv is there (no pip); install_package installs into a virtual environment of this server",
    );
  });

  it("is not needed when code runs in E2B", async () => {
    const env = { REPL_BACKEND: "e2b", E2B_API_KEY: "some-key" };
    const { code, found } = await check("python", env, { findPython: failure("none") });
    assert.deepEqual([code, found.length, found[0]?.status], [0, 1, "skip"]);
  });
});

describe("store", () => {
  it("is tried with the setting and the environment", async () => {
    const asked: unknown[] = [];
    const tryStore: DoctorProbes["tryStore"] = async (...args) => {
      asked.push(args);
      return "SQLite /srv/h.db";
    };
    const env = { REPL_STORAGE: "sqlite:/srv/h.db" };
    const { found } = await check("store", env, { tryStore });
    assert.deepEqual(
      [found[0]?.message, asked],
      ["History can be kept in SQLite /srv/h.db", [["sqlite:/srv/h.db", env]]],
    );
  });

  it("tells why it cannot be used", async () => {
    const tryStore = async () => {
      throw new Error("Cannot keep history in the folder /data: EACCES");
    };
    const { code, found } = await check("store", {}, { tryStore });
    assert.deepEqual([code, found[0]?.message], [1, "Cannot keep history in the folder /data: EACCES"]);
    assert.match(found[0]?.fix ?? "", /Set REPL_STORAGE to/);
  });

  it("ends at its time limit", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let began = () => {};
    const started = new Promise<void>((resolve) => {
      began = resolve;
    });
    const tryStore = () => {
      began();
      return new Promise<string>(() => {});
    };
    const checking = check("store", {}, { tryStore });
    await started;
    t.mock.timers.tick(5000);
    assert.equal((await checking).found[0]?.message, "The store did not answer in 5 s");
  });
});

describe("port", () => {
  it("fails when it is taken and the server would listen", async () => {
    const over = { tryListen: failure("EADDRINUSE"), fetch: failure("ECONNRESET") };
    const { code, found } = await check("port", { MCP_TRANSPORT: "streamable-http", MCP_PORT: "8123" }, over);
    assert.deepEqual([code, found[0]?.message], [1, "Port 8123 of 127.0.0.1 is taken"]);
  });

  it("only warns over stdio, and when this very server holds it", async () => {
    assert.equal(
      (await check("port", {}, { tryListen: failure("EADDRINUSE"), fetch: failure("x") })).found[0]?.status,
      "warn",
    );
    const over = {
      tryListen: failure("EADDRINUSE"),
      fetch: async () => Response.json({ status: "ok", version: "1.0.0" }),
    };
    const { found } = await check("port", { MCP_TRANSPORT: "sse" }, over);
    assert.equal(found[0]?.status, "warn");
    assert.match(found[0]?.message ?? "", /by a running edge-python-repl/);
  });

  it("tells an address that is not this machine's and a port that needs rights", async () => {
    const http = { MCP_TRANSPORT: "streamable-http" };
    assert.match((await check("port", http, { tryListen: failure("EADDRNOTAVAIL") })).found[0]?.fix ?? "", /MCP_HOST/);
    assert.match((await check("port", http, { tryListen: failure("EACCES") })).found[0]?.fix ?? "", /above 1023/);
  });
});

describe("access", () => {
  const hash = (digit: string) => digit.repeat(64);

  it("fails when others on the network could run code without a token", async () => {
    const { code, found } = await check("access", { MCP_HOST: "0.0.0.0" });
    assert.equal(code, 1);
    assert.match(found[0]?.fix ?? "", /REPL_AUTH=token and REPL_TOKENS/);
  });

  it("counts tokens and names the expired ones", async () => {
    const tokens = `alice:${hash("a")},bob:${hash("b")}:read:2026-06-01`;
    const { code, found } = await check("access", { MCP_HOST: "0.0.0.0", REPL_AUTH: "token", REPL_TOKENS: tokens });
    assert.deepEqual(
      [code, found[0]?.status, found[0]?.message],
      [0, "warn", "Callers need one of 1 valid token; expired: bob"],
    );
  });

  it("fails when every token has expired", async () => {
    const { found } = await check("access", { REPL_AUTH: "token", REPL_TOKENS: `bob:${hash("b")}::2026-06-01` });
    assert.equal(found[0]?.status, "fail");
  });

  it("names the issuer of OAuth tokens", async () => {
    const env = {
      REPL_AUTH: "oauth",
      REPL_OAUTH_ISSUER: "https://id.example.com/",
      REPL_PUBLIC_URL: "https://repl.example.com",
    };
    assert.match((await check("access", env)).found[0]?.message ?? "", /need a token of https:\/\/id\.example\.com/);
  });
});

describe("e2b", () => {
  const KEY = "not-a-real-key";

  /** A control plane that answers with `status`. */
  async function plane(respond: RequestListener): Promise<{ server: Server; url: string }> {
    const server = createServer(respond);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  for (const [status, expected, message] of [
    [200, "ok", /answers and takes the key/],
    [401, "fail", /refuses the key \(401\)/],
    [403, "fail", /refuses the key/],
    [429, "warn", /rate limit/],
    [503, "fail", /answers with status 503/],
  ] as const) {
    it(`a control plane that answers ${status} → ${expected}`, async () => {
      const seen: unknown[] = [];
      const { server, url } = await plane((request, response) => {
        seen.push([request.url, request.headers["x-api-key"]]);
        response.writeHead(status).end("[]");
      });
      try {
        const { out } = await doctor({ E2B_API_KEY: KEY, E2B_API_URL: url }, healthy({ fetch: machineProbes().fetch }));
        const found = (JSON.parse(out) as { checks: Check[] }).checks.find(({ id }) => id === "e2b");
        assert.equal(found?.status, expected);
        assert.match(found?.message ?? "", message);
        assert.deepEqual(seen, [["/v2/sandboxes?limit=1", KEY]]);
        assert.doesNotMatch(out, new RegExp(KEY));
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  }

  it("is asked at E2B's own address or the domain that is set", async () => {
    const asked: string[] = [];
    const fetch: DoctorProbes["fetch"] = async (input) => {
      asked.push(String(input));
      return Response.json([]);
    };
    await check("e2b", { E2B_API_KEY: KEY }, { fetch });
    await check("e2b", { E2B_API_KEY: KEY, E2B_DOMAIN: "e2b.example.com" }, { fetch });
    assert.deepEqual(asked, [
      "https://api.e2b.app/v2/sandboxes?limit=1",
      "https://api.e2b.example.com/v2/sandboxes?limit=1",
    ]);
  });

  it("a silent control plane ends at the time limit", async () => {
    const fetch: DoctorProbes["fetch"] = async (_, init) => {
      assert.ok(init?.signal instanceof AbortSignal);
      throw new DOMException("late", "TimeoutError");
    };
    const { found } = await check("e2b", { E2B_API_KEY: KEY }, { fetch });
    assert.equal(found[0]?.message, "E2B at api.e2b.app cannot be reached (no answer in 5 s)");
  });

  it("nothing is sent without a key, with a broken one, or with E2B_DEBUG", async () => {
    const fetch = async () => assert.fail("sent");
    assert.equal((await check("e2b", {}, { fetch })).found[0]?.status, "skip");
    assert.equal((await check("e2b", { REPL_BACKEND: "e2b" }, { fetch })).found[0]?.status, "fail");
    assert.match(
      (await check("e2b", { E2B_API_KEY: "a\nb" }, { fetch })).found[0]?.message ?? "",
      /characters that no key has/,
    );
    assert.match(
      (await check("e2b", { E2B_API_KEY: KEY, E2B_DEBUG: "true" }, { fetch })).found[0]?.fix ?? "",
      /Unset E2B_DEBUG/,
    );
  });
});

describe("the real machine", () => {
  const probes = machineProbes();

  it("has a Python that can be found", async () => {
    const { executable, version } = await probes.findPython(process.env);
    assert.match(version, /^3\.\d+\.\d+$/);
    assert.ok(executable.length > 0);
  });

  it("a store of files is tried for real and left without a trace of that", async () => {
    const folder = join(FOLDER, "history");
    assert.equal(await probes.tryStore(`fs:${folder}`, {}), folder);
    const left = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    assert.deepEqual(left, []);
    assert.match(await probes.tryStore("memory", {}), /^memory/);
  });

  it("stores that cannot work say so in a sentence without a password", async () => {
    await assert.rejects(probes.tryStore("fs:/dev/null/x", {}), /\/dev\/null\/x/);
    await assert.rejects(probes.tryStore("s3:bucket", {}), /is not known; use memory, fs:PATH/);
    await assert.rejects(probes.tryStore("redis://:hunter2@127.0.0.1:1/", {}), (error: Error) => {
      assert.match(error.message, /127\.0\.0\.1:1/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  });

  it("a taken port is told from a free one, and left free", async () => {
    const server = createSocketServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await assert.rejects(probes.tryListen("127.0.0.1", port), { code: "EADDRINUSE" });
    await new Promise((resolve) => server.close(resolve));
    await probes.tryListen("127.0.0.1", port);
    await probes.tryListen("127.0.0.1", port);
  });
});
