import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { refuseOpenDoor } from "../../adapters/http.ts";
import { parseConfig, SETTING_NAMES } from "../../src/config.ts";
import { parseYaml } from "./small-yaml.ts";

const root = new URL("../../", import.meta.url);
const read = (name: string) => readFile(new URL(name, root), "utf8");

type Instruction = { readonly name: string; readonly text: string };

/** The Dockerfile's stages, each a list of instructions; continued lines are joined. */
function stagesOf(source: string): Instruction[][] {
  const lines = source
    .split("\n")
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join("\n")
    .replace(/\\\n\s*/g, "")
    .split("\n");
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = "", text = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    assert.match(name, /^(FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|HEALTHCHECK|ENTRYPOINT)$/, line);
    if (name === "FROM") stages.push([]);
    stages.at(-1)?.push({ name, text });
  }
  return stages;
}

const [build = [], final = [], ...more] = stagesOf(await read("Dockerfile"));
const texts = (stage: readonly Instruction[], name: string) =>
  stage.filter((each) => each.name === name).map((each) => each.text);
const environment = Object.fromEntries(
  texts(final, "ENV").flatMap((text) => text.split(/\s+/).map((pair) => pair.split("=") as [string, string])),
);

describe("Dockerfile", () => {
  it("builds in one stage and keeps only what runs in another", () => {
    assert.equal(more.length, 0);
    assert.match(build[0]?.text ?? "", /^node:20-slim AS build$/);
    assert.equal(final[0]?.text, "node:20-slim");
    assert.ok(texts(build, "RUN").some((text) => text.includes("npm prune --omit=dev")));
    for (const copied of texts(final, "COPY"))
      assert.match(copied, /^--from=build \/app\/(package\.json|node_modules|dist) /);
  });

  it("copies files that exist and that .dockerignore lets through", async () => {
    const allowed = (await read(".dockerignore")).split("\n").filter((line) => line.startsWith("!"));
    for (const text of texts(build, "COPY")) {
      for (const source of text.split(" ").slice(0, -1)) {
        assert.ok(existsSync(new URL(source, root)), source);
        assert.ok(allowed.includes(`!${source}`), source);
      }
    }
  });

  it("has Python with pip and venv, installed without leftovers", () => {
    const [apt = ""] = texts(final, "RUN");
    for (const name of ["python3", "python3-pip", "python3-venv", "tini"])
      assert.match(apt, new RegExp(`\\s${name}\\s`));
    assert.match(apt, /--no-install-recommends/);
    assert.match(apt, /rm -rf \/var\/lib\/apt\/lists/);
  });

  it("runs as a user without rights, who owns the folders that are written", () => {
    assert.deepEqual(texts(final, "USER"), ["node"]);
    const user = final.findIndex(({ name }) => name === "USER");
    assert.ok(final.slice(user).every(({ name }) => name !== "RUN"));
    const volumes = JSON.parse(texts(final, "VOLUME")[0] ?? "[]") as string[];
    for (const folder of volumes)
      assert.match(texts(final, "RUN")[0] ?? "", new RegExp(`install -d -o node -g node.*${folder}\\b`));
    assert.deepEqual([environment.XDG_DATA_HOME, environment.REPL_CWD], volumes);
  });

  it("sets settings that exist, and exposes the port it listens on", () => {
    for (const name of Object.keys(environment)) {
      assert.ok([...SETTING_NAMES, "NODE_ENV", "XDG_DATA_HOME"].includes(name), name);
    }
    assert.deepEqual(texts(final, "EXPOSE"), [environment.MCP_PORT]);
  });

  it("refuses to start without authentication, because it listens on every address", () => {
    assert.throws(() => refuseOpenDoor(parseConfig(environment)), /would let anyone on the network run code/);
  });

  it("starts the built file through tini, so that arguments can follow", async () => {
    const entry = JSON.parse(texts(final, "ENTRYPOINT")[0] ?? "") as string[];
    const { bin } = JSON.parse(await read("package.json")) as { bin: Record<string, string> };
    assert.deepEqual(entry, ["/usr/bin/tini", "--", "node", `/app/${bin["edge-python-repl"]}`]);
  });
});

describe("the container's health check", () => {
  const [, command = "[]"] = /CMD (\[.*\])$/.exec(texts(final, "HEALTHCHECK")[0] ?? "") ?? [];
  const [program = "", ...args] = JSON.parse(command) as string[];

  /** Runs the check's own command against a port. */
  function run(port: number): Promise<number | null> {
    assert.equal(program, "node");
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, args, { env: { MCP_PORT: String(port) }, stdio: "ignore" });
      child.once("error", reject);
      child.once("exit", resolve);
    });
  }

  for (const [status, code] of [
    [200, 0],
    [500, 1],
  ] as const) {
    it(`exits ${code} for a server that answers ${status}`, async () => {
      const asked: (string | undefined)[] = [];
      const server = createServer((request, response) => {
        asked.push(request.url);
        response.writeHead(status).end();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      assert.equal(await run(port), code);
      assert.deepEqual(asked, ["/healthz"]);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      assert.equal(await run(port), 1);
    });
  }
});

type Service = {
  image: string;
  build?: string;
  ports?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  volumes: string[];
  healthcheck?: { test: string[] };
  cap_drop?: string[];
  security_opt?: string[];
};

describe("compose.yaml", async () => {
  const compose = parseYaml(await read("compose.yaml")) as unknown as {
    services: Record<"repl" | "redis", Service>;
    volumes: Record<string, null>;
  };
  const { repl, redis } = compose.services;

  it("builds the image here and keeps history in Redis, once Redis is ready", () => {
    assert.equal(repl.build, ".");
    assert.equal(repl.environment?.REPL_STORAGE, "redis://redis:6379");
    assert.deepEqual(repl.depends_on, { redis: { condition: "service_healthy" } });
    assert.deepEqual(redis.healthcheck?.test, ["CMD", "redis-cli", "ping"]);
  });

  it("is open to this machine only, Redis to nobody outside", () => {
    assert.deepEqual(repl.ports, ["127.0.0.1:8000:8000"]);
    assert.equal(redis.ports, undefined);
  });

  it("takes rights away from the container that runs code", () => {
    assert.deepEqual([repl.cap_drop, repl.security_opt], [["ALL"], ["no-new-privileges:true"]]);
  });

  it("sets settings that exist and that start once there is a token", () => {
    const tokens = `me:${"a".repeat(64)}`;
    const given = Object.entries(repl.environment ?? {}).map(([name, value]) => {
      assert.ok(SETTING_NAMES.includes(name), name);
      return [name, value.replace(/^\$\{REPL_TOKENS-\}$/, tokens).replace(/\$\{\w+-\}/, "")];
    });
    assert.doesNotThrow(() =>
      refuseOpenDoor({ ...parseConfig({ ...environment, ...Object.fromEntries(given) }), REPL_SANDBOX: "bwrap" }),
    );
    const without = { ...environment, ...Object.fromEntries(given), REPL_TOKENS: "" };
    assert.throws(() => parseConfig(without), /REPL_TOKENS must be set/);
  });

  it("names every volume that it mounts", () => {
    const mounted = [...repl.volumes, ...redis.volumes].map((volume) => volume.split(":")[0]);
    assert.deepEqual(mounted.sort(), Object.keys(compose.volumes).sort());
  });
});
