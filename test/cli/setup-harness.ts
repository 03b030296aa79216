import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, beforeEach } from "node:test";
import { setupCommand } from "../../adapters/cli/setup.ts";
import type { CliIo } from "../../adapters/cli/setup-io.ts";

export type Run = { readonly code: number; readonly out: string; readonly err: string };

/** What `setup` writes for the program that the harness says it is. */
export const OWN = { command: "/opt/node", args: ["/opt/edge/dist/cli.js"] };
export const URL = "https://repl.example.com/mcp";

/** A person's machine: a fresh home folder for each test, with `project` in it as the folder they are in. */
export async function machine() {
  const root = await mkdtemp(join(tmpdir(), "setup-test-"));
  after(() => rm(root, { recursive: true, force: true }));
  let home = "";
  let count = 0;
  beforeEach(async () => {
    home = join(root, `home-${count++}`);
    await mkdir(join(home, "project"), { recursive: true });
  });

  /** Runs `setup`; `answer` is what the person types. */
  async function setup(args: readonly string[], answer = "", over: Partial<CliIo> = {}): Promise<Run> {
    let out = "";
    let err = "";
    const io: CliIo = {
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      stdin: (async function* () {
        if (answer !== "") yield answer;
      })(),
      env: {},
      home,
      platform: "linux",
      cwd: join(home, "project"),
      program: { node: "/opt/node", script: "/opt/edge/dist/cli.js" },
      ...over,
    };
    const code = await setupCommand(args, io);
    return { code, out, err };
  }

  async function write(path: string, text: string | Uint8Array): Promise<string> {
    const full = join(home, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, text);
    return full;
  }

  const read = (path: string) => readFile(join(home, path), "utf8");
  const json = async (path: string) => JSON.parse(await read(path)) as Record<string, Record<string, unknown>>;
  return { at: (path = "") => join(home, path), setup, write, read, json };
}
