import type { Tool as McpTool } from "@modelcontextprotocol/server";
import type { Tool } from "./tool.ts";
import { fileTools } from "./tools/files.ts";
import { historyTools } from "./tools/history.ts";
import { installTools } from "./tools/install.ts";
import { runTools } from "./tools/run.ts";
import { sessionTools } from "./tools/sessions.ts";

/** All tools, built once per process. */
export const TOOLS: readonly Tool[] = [...sessionTools, ...runTools, ...historyTools, ...installTools, ...fileTools];

export const TOOLS_BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** The reply to `tools/list`. */
export const TOOL_LIST: McpTool[] = TOOLS.map(
  ({ name, title, description, annotations, meta, inputSchema, outputSchema }) => ({
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema,
    outputSchema,
    ...(meta ? { _meta: meta } : {}),
  }),
);
