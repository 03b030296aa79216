import {
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerEventBus,
  type Tool,
} from "@modelcontextprotocol/server";
import type { FixtureTools } from "./fixture.ts";
import { inputRequiredTools, requestTools, roundState } from "./fixtures-input.ts";
import { complete, getFixturePrompt, PROMPT_LIST } from "./fixtures-prompts.ts";
import { RESOURCE_TEMPLATES, RESOURCES, readFixture } from "./fixtures-resources.ts";
import { contentTools, listingTools } from "./fixtures-tools.ts";

const TOOLS: FixtureTools = { ...contentTools, ...listingTools, ...requestTools, ...inputRequiredTools };

const TOOL_LIST: Tool[] = Object.entries(TOOLS).map(([name, { description, inputSchema }]) => ({
  name,
  description,
  inputSchema: inputSchema ?? { type: "object" },
}));

const CACHE = { ttlMs: 60_000, cacheScope: "public" } as const;

const OPTIONS = {
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true },
    completions: {},
    logging: {},
  },
  cacheHints: {
    "tools/list": CACHE,
    "prompts/list": CACHE,
    "resources/list": CACHE,
    "resources/templates/list": CACHE,
    "resources/read": CACHE,
  },
  requestState: { verify: roundState.verify },
};

/**
 * A server with everything the published conformance scenarios call by name, to be mounted on our app in place of the real
 * one: what is then examined is the transports, the guards and the eras around it.
 */
export function createFixtureFactory(bus: ServerEventBus): McpServerFactory {
  return ({ era }) => {
    const server = new Server({ name: "conformance-fixtures", version: "1.0.0" }, OPTIONS);
    server.setRequestHandler("tools/list", () => ({ tools: TOOL_LIST }));
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const tool = TOOLS[params.name];
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${params.name}`);
      return tool.run(params.arguments ?? {}, { ...context, publish: (event) => bus.publish(event) });
    });
    server.setRequestHandler("prompts/list", () => ({ prompts: PROMPT_LIST }));
    server.setRequestHandler("prompts/get", ({ params }, context) =>
      getFixturePrompt(params.name, params.arguments ?? {}, context),
    );
    server.setRequestHandler("resources/list", () => ({ resources: RESOURCES }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
    server.setRequestHandler("resources/read", ({ params }) => readFixture(params.uri));
    server.setRequestHandler("completion/complete", ({ params }) => ({ completion: complete(params.argument.value) }));
    if (era === "legacy") {
      server.setRequestHandler("resources/subscribe", () => ({}));
      server.setRequestHandler("resources/unsubscribe", () => ({}));
    }
    return server;
  };
}
