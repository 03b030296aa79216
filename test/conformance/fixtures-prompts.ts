import {
  acceptedContent,
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  type Prompt,
  type PromptMessage,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { PNG } from "./fixtures-samples.ts";

const says = (text: string): PromptMessage => ({ role: "user", content: { type: "text", text } });

type Given = Readonly<Record<string, string>>;
type Answer = GetPromptResult | InputRequiredResult;
type FixturePrompt = Omit<Prompt, "name"> & { readonly get: (given: Given, context: ServerContext) => Answer };

const PROMPTS: Readonly<Record<string, FixturePrompt>> = {
  test_simple_prompt: {
    description: "One fixed message",
    get: () => ({ messages: [says("This is a simple prompt for testing.")] }),
  },
  test_prompt_with_arguments: {
    description: "A message with two arguments in it",
    arguments: [
      { name: "arg1", description: "First test argument", required: true },
      { name: "arg2", description: "Second test argument", required: true },
    ],
    get: ({ arg1, arg2 }) => ({ messages: [says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  },
  test_prompt_with_embedded_resource: {
    description: "A resource and what to do with it",
    arguments: [{ name: "resourceUri", description: "URI of the resource to embed", required: true }],
    get: ({ resourceUri = "" }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
          },
        },
        says("Please process the embedded resource above."),
      ],
    }),
  },
  test_prompt_with_image: {
    description: "A picture and what to do with it",
    get: () => ({
      messages: [
        { role: "user", content: { type: "image", data: PNG, mimeType: "image/png" } },
        says("Please analyze the image above."),
      ],
    }),
  },
  test_input_required_result_prompt: {
    description: "Needs to ask the user first",
    get(_given, { mcpReq }) {
      const context = acceptedContent(mcpReq.inputResponses, "user_context")?.context;
      if (typeof context === "string") return { messages: [says(`Prompt with context: ${context}`)] };
      const user_context = inputRequired.elicit({
        message: "What context should the prompt use?",
        requestedSchema: { type: "object", properties: { context: { type: "string" } }, required: ["context"] },
      });
      return inputRequired({ inputRequests: { user_context } });
    },
  },
};

export const PROMPT_LIST: Prompt[] = Object.entries(PROMPTS).map(([name, { get: _get, ...rest }]) => ({
  name,
  ...rest,
}));

/** @throws ProtocolError for an unknown name. */
export function getFixturePrompt(name: string, given: Given, context: ServerContext): Answer {
  const prompt = PROMPTS[name];
  if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt ${name}`);
  return prompt.get(given, context);
}

const CITIES = ["paris", "parma", "perth"];

/** What the first argument could be, from what was typed so far. */
export function complete(typed: string): { values: string[]; total: number; hasMore: boolean } {
  const values = CITIES.filter((city) => city.startsWith(typed));
  return { values, total: values.length, hasMore: false };
}
