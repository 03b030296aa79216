import type { Client, ClientFile } from "./types.ts";

/** A file below the home folder, at the same place on every platform. */
function everywhere(path: string): ClientFile["user"] {
  return { linux: [path], darwin: [path], win32: [path] };
}

/** A header's value that the client fills in from a variable, in the client's own way of naming it. */
function bearer(variable: string): string {
  return `Bearer $\{${variable}}`;
}

const CLAUDE_DESKTOP: Client = {
  id: "claude-desktop",
  title: "Claude Desktop",
  file: {
    format: "json",
    comments: false,
    path: ["mcpServers"],
    user: {
      linux: ["$XDG_CONFIG_HOME/Claude/claude_desktop_config.json"],
      darwin: ["$HOME/Library/Application Support/Claude/claude_desktop_config.json"],
      // A packaged (MSIX) install reads its own copy of the roaming folder and never the real one.
      win32: [
        "$LOCALAPPDATA/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
        "$APPDATA/Claude/claude_desktop_config.json",
      ],
    },
  },
  stdio: {},
  remote: {
    steps: [
      "Claude Desktop takes a remote server in its settings, not in its file; it must be reachable from the internet over HTTPS",
      "Open Settings, then Connectors, and choose Add custom connector",
      "Name it and paste the URL: {url}",
      "Add it, then Connect, and sign in when the server asks for it (OAuth)",
    ],
  },
  next: "Quit Claude Desktop completely and open it again",
};

const CLAUDE_CODE: Client = {
  id: "claude-code",
  title: "Claude Code",
  file: {
    format: "json",
    comments: false,
    path: ["mcpServers"],
    user: everywhere("$CLAUDE_CONFIG_DIR/.claude.json"),
    project: ".mcp.json",
  },
  stdio: { type: "stdio" },
  remote: { urlKey: "url", type: "http", token: { kind: "header", value: bearer("NAME") } },
  next: "Start a new Claude Code session; /mcp shows the server",
};

const CURSOR: Client = {
  id: "cursor",
  title: "Cursor",
  file: {
    format: "json",
    comments: true,
    path: ["mcpServers"],
    user: everywhere("$HOME/.cursor/mcp.json"),
    project: ".cursor/mcp.json",
  },
  stdio: {},
  remote: { urlKey: "url", token: { kind: "header", value: bearer("env:NAME") } },
  next: "Restart Cursor; the server is listed with its MCP servers",
};

const VSCODE: Client = {
  id: "vscode",
  title: "VS Code",
  file: {
    format: "json",
    comments: true,
    path: ["servers"],
    user: {
      linux: ["$XDG_CONFIG_HOME/Code/User/mcp.json"],
      darwin: ["$HOME/Library/Application Support/Code/User/mcp.json"],
      win32: ["$APPDATA/Code/User/mcp.json"],
    },
    project: ".vscode/mcp.json",
  },
  stdio: { type: "stdio" },
  // ${env:…} in a header is sent as it stands by some releases, so the token is an input that VS Code asks for.
  remote: { urlKey: "url", type: "http", token: { kind: "input" } },
  next: "Run MCP: List Servers from the command palette and start the server",
};

const WINDSURF: Client = {
  id: "windsurf",
  title: "Windsurf",
  file: {
    format: "json",
    comments: true,
    path: ["mcpServers"],
    user: everywhere("$HOME/.codeium/windsurf/mcp_config.json"),
  },
  stdio: {},
  remote: { urlKey: "serverUrl", token: { kind: "header", value: bearer("env:NAME") } },
  next: "Refresh the MCP list in Cascade; releases named Devin Desktop read another file: run setup devin for those",
};

const DEVIN: Client = {
  id: "devin",
  title: "Devin Desktop (formerly Windsurf)",
  file: {
    format: "json",
    comments: true,
    path: ["mcpServers"],
    user: {
      linux: ["$XDG_CONFIG_HOME/devin/mcp_config.json"],
      darwin: ["$HOME/.config/devin/mcp_config.json"],
      win32: ["$APPDATA/devin/mcp_config.json"],
    },
    project: ".devin/mcp_config.json",
  },
  stdio: {},
  remote: {
    urlKey: "url",
    token: {
      kind: "none",
      why: "Devin documents no variables in headers: leave --token-env out and sign in with OAuth (devin mcp login), or write the header into the file by hand",
    },
  },
  next: "Open the MCP list of the agent panel; the server is listed there",
};

const KIRO: Client = {
  id: "kiro",
  title: "Kiro",
  file: {
    format: "json",
    comments: true,
    path: ["mcpServers"],
    user: everywhere("$HOME/.kiro/settings/mcp.json"),
    project: ".kiro/settings/mcp.json",
  },
  stdio: {},
  remote: { urlKey: "url", token: { kind: "header", value: bearer("NAME") } },
  next: "Kiro connects by itself when the file is saved; see the MCP servers tab of its panel",
};

const ZED: Client = {
  id: "zed",
  title: "Zed",
  file: {
    format: "json",
    comments: true,
    path: ["context_servers"],
    user: {
      linux: ["$XDG_CONFIG_HOME/zed/settings.json"],
      darwin: ["$HOME/.config/zed/settings.json"],
      win32: ["$APPDATA/Zed/settings.json"],
    },
    project: ".zed/settings.json",
  },
  stdio: {},
  remote: {
    urlKey: "url",
    token: {
      kind: "none",
      why: "Zed does not expand variables in headers: leave --token-env out and sign in with OAuth, or write the header into the file by hand",
    },
  },
  next: "Open the agent panel's settings; a green dot beside the server says it runs",
};

const CODEX: Client = {
  id: "codex",
  title: "Codex",
  file: {
    format: "toml",
    comments: true,
    path: ["mcp_servers"],
    user: everywhere("$CODEX_HOME/config.toml"),
    project: ".codex/config.toml",
  },
  stdio: {},
  remote: { urlKey: "url", token: { kind: "key", key: "bearer_token_env_var" } },
  next: "Start Codex again; /mcp shows the server (a project's file counts only in a trusted project)",
};

const GEMINI: Client = {
  id: "gemini-cli",
  title: "Gemini CLI",
  file: {
    format: "json",
    comments: true,
    path: ["mcpServers"],
    user: everywhere("$HOME/.gemini/settings.json"),
    project: ".gemini/settings.json",
  },
  stdio: {},
  remote: { urlKey: "httpUrl", token: { kind: "header", value: bearer("NAME") } },
  next: "Start Gemini CLI again; /mcp shows the server",
};

const CHATGPT: Client = {
  id: "chatgpt",
  title: "ChatGPT",
  remote: {
    steps: [
      "ChatGPT connects from OpenAI's servers, so the server must be reachable from the internet over HTTPS",
      "On chatgpt.com open Settings, then Apps, then Advanced settings, and turn Developer mode on",
      "Choose Create app, name it, and paste the URL: {url}",
      "Pick OAuth as authentication (a server with REPL_AUTH=oauth); ChatGPT has no field for a header of your own",
      "Create it, sign in, and pick the app in a chat's tool menu",
    ],
  },
  next: "",
};

export const CLIENTS: readonly Client[] = [
  CLAUDE_DESKTOP,
  CLAUDE_CODE,
  CURSOR,
  VSCODE,
  WINDSURF,
  DEVIN,
  KIRO,
  ZED,
  CODEX,
  GEMINI,
  CHATGPT,
];

/** Returns the client of this name, or undefined. Case and the kind of separator do not matter. */
export function findClient(name: string): Client | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[\s._-]/g, "");
  const aliases: Readonly<Record<string, string>> = { claude: "claudedesktop", gemini: "geminicli", code: "vscode" };
  const wanted = aliases[plain(name)] ?? plain(name);
  return CLIENTS.find((client) => plain(client.id) === wanted);
}
