// `npm run compare`: plays the rows on our server, the project it follows and ipykernel, and writes docs/compare.md.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { VERSION } from "../../src/version.ts";
import { cleanEnvironment, freePort, ROOT, runToEnd, start, until } from "../../test/helpers/process.ts";
import { legacyClient } from "../lib/mcp-client.ts";
import { ROWS, type Row } from "./rows.ts";

const CALL_MS = 30_000;
const INSTALL_MS = 300_000;
const PYTHON = process.env.REPL_PYTHON ?? "python3";

/** Plays a row in a fresh session and returns the text of its last cell. */
type Player = { readonly name: string; play(row: Row): Promise<string>; close(): Promise<void> };

async function install(name: string, requirements: readonly string[]): Promise<string> {
  const folder = join(tmpdir(), "edge-python-repl-bench", name);
  const python = join(folder, "bin", "python");
  if (existsSync(join(folder, "installed"))) return python;
  mkdirSync(folder, { recursive: true });
  await must([PYTHON, "-m", "venv", folder]);
  await must([python, "-m", "pip", "install", "--quiet", ...requirements]);
  writeFileSync(join(folder, "installed"), "");
  return python;
}

async function must(command: readonly [string, ...string[]]): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(command, { limitMs: INSTALL_MS });
  if (code !== 0) throw new Error(stderr.trim().split("\n").at(-1) ?? "it failed");
  return stdout.trim();
}

async function mcpPlayer(name: string, command: string, args: string[], env: Record<string, string>): Promise<Player> {
  const open = async (): Promise<Client> => {
    const client = new Client({ name: "compare", version: "1.0.0" });
    const environment = { ...(process.env as Record<string, string>), ...env, MCP_TRANSPORT: "stdio" };
    await client.connect(new StdioClientTransport({ command, args, env: environment, stderr: "ignore" }));
    return client;
  };
  return {
    name,
    // A server of its own for each row: what one breaks is no fault of the next.
    async play(row) {
      const client = await open();
      try {
        await call(client, "create_session", { session_id: "s" });
        let last = "";
        for (const [index, code] of row.cells.entries()) {
          const limited = row.timeout !== undefined && index > 0 && index < row.cells.length - 1;
          last = await call(client, "run_code", {
            session_id: "s",
            code,
            ...(limited ? { timeout: row.timeout } : {}),
          });
        }
        return last;
      } finally {
        await client.close().catch(() => undefined);
      }
    },
    close: async () => undefined,
  };
}

/** The followed project answers over HTTP only; one server plays all rows, each in a session of its own. */
async function followedPlayer(python: string): Promise<Player> {
  const port = await freePort();
  const settings = { MCP_TRANSPORT: "streamable-http", MCP_HOST: "127.0.0.1", MCP_PORT: String(port) };
  const server = await start([python, "-m", "python_repl_mcp"], { env: cleanEnvironment(settings), cwd: tmpdir() });
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const connect = () => legacyClient(url, { version: "2025-06-18", fresh: true });
  const client = await until(() => connect().catch(() => undefined), `an answer at ${url}`, CALL_MS);
  const ask = async (tool: string, args: object): Promise<string> => {
    const limit = new Promise<string>((resolve) => setTimeout(() => resolve("(no answer)"), CALL_MS).unref());
    const answer = client.call(tool, args).then(
      ({ content }) => content.map(({ text = "" }) => text).join("\n"),
      (error: unknown) => `(refused: ${error})`,
    );
    return Promise.race([answer, limit]);
  };
  let sessions = 0;
  return {
    name: "python-repl-mcp",
    async play({ cells, timeout }) {
      const session_id = `s${++sessions}`;
      await ask("create_session", { session_id });
      let last = "";
      for (const [index, code] of cells.entries()) {
        const limited = timeout !== undefined && index > 0 && index < cells.length - 1;
        last = await ask("run_code", { session_id, code, ...(limited ? { timeout } : {}) });
      }
      return last.replaceAll("\r", "");
    },
    close: async () => void server.child.kill("SIGKILL"),
  };
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  try {
    const { content } = await client.callTool({ name, arguments: args }, { timeout: CALL_MS });
    return (content as { type: string; text?: string }[]).map(({ text = "" }) => text).join("\n");
  } catch (error) {
    return `(no answer: ${error instanceof Error ? error.message : error})`;
  }
}

async function kernelPlayer(python: string): Promise<Player> {
  const child = spawn(python, [join(ROOT, "bench/compare/kernel.py")], { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name: "ipykernel",
    async play({ cells, timeout }) {
      child.stdin.write(`${JSON.stringify({ cells, timeout })}\n`);
      const { value, done } = await lines.next();
      return done ? "(the driver ended)" : plain(JSON.parse(value) as string);
    },
    close: async () => void child.stdin.end(),
  };
}

function plain(text: string): string {
  return text.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g"), "");
}

/** Ours echoes the code before the output: only what follows counts, as for the others. */
function shows(row: Row, text: string): boolean {
  return row.wants.test(text) && !row.refuses?.test(text);
}

async function players(): Promise<{ found: Player[]; notes: string[] }> {
  const notes: string[] = [];
  const ours = { REPL_STORAGE: "memory", REPL_LOG: "off", REPL_ECHO: "0", REPL_PYTHON: PYTHON };
  const found = [await mcpPlayer(`edge-python-repl ${VERSION}`, process.execPath, [join(ROOT, "dist/cli.js")], ours)];
  try {
    const python = await install("python-repl-mcp", [process.env.BENCH_FOLLOWED ?? "python-repl-mcp", "mcp<2"]);
    const version = await must([python, "-c", "import importlib.metadata as m; print(m.version('python-repl-mcp'))"]);
    found.push({ ...(await followedPlayer(python)), name: `python-repl-mcp ${version}` });
  } catch (error) {
    notes.push(`python-repl-mcp was left out: ${error instanceof Error ? error.message : error}`);
  }
  try {
    const python = await install("ipykernel", ["ipykernel", "jupyter-client"]);
    const version = await must([python, "-c", "import ipykernel; print(ipykernel.__version__)"]);
    found.push({ ...(await kernelPlayer(python)), name: `ipykernel ${version}` });
  } catch (error) {
    notes.push(`ipykernel was left out: ${error instanceof Error ? error.message : error}`);
  }
  return { found, notes };
}

const { found, notes } = await players();
if (process.env.BENCH_FOLLOWED) {
  notes.push(
    "The package index had no python-repl-mcp; it was installed from its public source, named by `BENCH_FOLLOWED`.",
  );
}
const table = [
  `| what a Python user expects | ${found.map(({ name }) => name).join(" | ")} |`,
  `|---|${found.map(() => "---").join("|")}|`,
];
for (const row of ROWS) {
  const marks: string[] = [];
  for (const player of found) {
    const text = await player.play(row);
    const passed = shows(row, text);
    marks.push(passed ? "yes" : "**no**");
    if (!passed) process.stderr.write(`${player.name}: ${row.what}: ${JSON.stringify(text.slice(0, 200))}\n`);
  }
  table.push(`| ${row.what.replaceAll("|", "\\|")} | ${marks.join(" | ")} |`);
  process.stderr.write(`${table.at(-1)}\n`);
}
await Promise.all(found.map((player) => player.close()));
const version = await must([PYTHON, "-c", "import platform; print(platform.python_version())"]);
const text = [
  "# Side by side",
  "",
  `Written by \`npm run compare\` from real runs on ${new Date().toISOString().slice(0, 10)} with Python ${version}: each row in a`,
  "fresh session of each program; the rows and what they want are in `bench/compare/rows.ts`.",
  "ipykernel runs by itself here; a Jupyter server around it would restart one that crashed.",
  "",
  ...table,
  ...notes.flatMap((note) => ["", note]),
  "",
].join("\n");
writeFileSync(join(ROOT, "docs/compare.md"), text);
process.exit(0);
