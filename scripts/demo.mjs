// `npm run demo`: starts a server, plays a session through a real MCP client and prints the transcript.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "edge-python-repl-demo-"));
writeFileSync(join(folder, "utils.py"), 'print("Loaded 5 utility functions.")\n');

const transport = new StdioClientTransport({
  command: process.execPath,
  args: [cli],
  env: { ...process.env, REPL_STORAGE: "memory", REPL_LOG: "off" },
  stderr: "inherit",
});
const client = new Client({ name: "demo", version: "1.0.0" });

async function play(name, args) {
  const shown = Object.entries(args).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  console.log(`> ${name} ${shown.join(" ")}`);
  const { content } = await client.callTool({ name, arguments: args });
  console.log(`${content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")}\n`);
}

try {
  await client.connect(transport);
  const session = { session_id: "demo" };
  await play("create_session", { ...session, cwd: folder });
  await play("run_code", { ...session, code: "import math\nresult = math.sqrt(144)\nresult" });
  await play("run_code", { ...session, code: "result + 1" });
  await play("run_file", { ...session, path: "utils.py" });
  await play("get_history", session);
  await play("get_history", { ...session, start: -1 });
  await play("export_history", { ...session, path: "history.txt" });
  await play("save_script", { ...session, path: "output.py" });
  await play("reset_run_context", session);
  await play("run_code", { ...session, code: "result" });
  await play("delete_session", session);
} finally {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
}
