import { type FixtureTools, pause, text } from "./fixture.ts";
import { PNG, WAV } from "./fixtures-samples.ts";

const STEP_MS = 50;

/** Tools that answer by themselves: content of every kind, an error, log messages, progress. */
export const contentTools: FixtureTools = {
  test_simple_text: {
    description: "Returns one text",
    run: () => text("This is a simple text response for testing."),
  },
  test_image_content: {
    description: "Returns one picture",
    run: () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
  },
  test_audio_content: {
    description: "Returns one sound",
    run: () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] }),
  },
  test_embedded_resource: {
    description: "Returns one embedded resource",
    run: () => ({
      content: [
        {
          type: "resource",
          resource: {
            uri: "test://embedded-resource",
            mimeType: "text/plain",
            text: "This is an embedded resource content.",
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    description: "Returns a text, a picture and a resource",
    run: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: PNG, mimeType: "image/png" },
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: JSON.stringify({ test: "data", value: 123 }),
          },
        },
      ],
    }),
  },
  test_error_handling: {
    description: "Fails always",
    run: () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  },
  test_tool_with_logging: {
    description: "Sends three log messages while it runs",
    async run(_args, { mcpReq }) {
      await mcpReq.log("info", "Tool execution started");
      await pause(STEP_MS);
      await mcpReq.log("info", "Tool processing data");
      await pause(STEP_MS);
      await mcpReq.log("info", "Tool execution completed");
      return text("Logged three messages");
    },
  },
  test_logging_tool: {
    description: "Logs, which only clients that asked for a log level may see",
    async run(_args, { mcpReq }) {
      await mcpReq.log("info", "A message");
      return text("Logged one message");
    },
  },
  test_tool_with_progress: {
    description: "Reports progress of 0, 50 and 100 of 100",
    async run(_args, { mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await pause(STEP_MS);
        if (progressToken === undefined) continue;
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      }
      return text("Reported progress");
    },
  },
  test_reconnection: {
    description: "Ends its response stream before the result, where the transport can resume one",
    async run(_args, { http }) {
      http?.closeSSE?.();
      await pause(STEP_MS);
      return text("Sent after the stream was closed");
    },
  },
};

/** Tools that change what the server lists, or are there to be listed. */
export const listingTools: FixtureTools = {
  test_trigger_tool_change: {
    description: "Tells subscribers that the list of tools changed",
    run(_args, { publish }) {
      publish({ kind: "tools_list_changed" });
      return text("Told");
    },
  },
  test_trigger_prompt_change: {
    description: "Tells subscribers that the list of prompts changed",
    run(_args, { publish }) {
      publish({ kind: "prompts_list_changed" });
      return text("Told");
    },
  },
  test_x_mcp_header: {
    description: "Has an argument that clients mirror into a request header",
    inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
    run: ({ region }) => text(`Region ${String(region)}`),
  },
  json_schema_2020_12_tool: {
    description: "Tool with JSON Schema 2020-12 features",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
    run: (args) => text(JSON.stringify(args)),
  },
};
