import type { CallToolResult, Tool as McpTool, ToolAnnotations } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Scope } from "../auth/principal.ts";
import { AppError } from "../core/errors.ts";
import { shorten } from "../core/shorten.ts";
import type { Caller } from "../sessions/context.ts";
import type { SessionService } from "../sessions/service.ts";

/** How replies are rendered; from the settings. */
export type ReplySettings = {
  readonly structured: "full" | "brief" | "off";
  readonly echo: boolean;
  /** Characters of a reply's text. */
  readonly replyChars: number;
};

export type ToolContext = {
  readonly caller: Caller;
  readonly service: SessionService;
  readonly settings: ReplySettings;
  readonly signal: AbortSignal;
  /** Absent when the client asked for no progress. Never throws. */
  readonly progress: ((message: string) => void) | undefined;
};

/** One tool, declared once: name, texts and schemas for the client, and what it does. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scope: Scope;
  readonly annotations: ToolAnnotations;
  /** `_meta` of the tool, for hosts that know what it says. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly inputSchema: McpTool["inputSchema"];
  readonly outputSchema: McpTool["inputSchema"];
  /** @throws AppError for what it refuses, bad arguments among it. */
  call(args: unknown, context: ToolContext): Promise<CallToolResult>;
};

type Declaration<S extends z.ZodObject> = Omit<Tool, "inputSchema" | "outputSchema" | "call"> & {
  readonly input: S;
  /** What `structuredContent` holds besides `status`, `code` and `message`. */
  readonly output: z.ZodRawShape;
  readonly run: (args: z.infer<S>, context: ToolContext) => Promise<CallToolResult>;
};

/** A refused call carries `code` and `message` in place of all else, so nothing but `status` is required. */
const refusal = {
  status: z.string().describe("`ok`, or how it ended"),
  code: z.string().optional().describe("Only of a refused call: one of a fixed list of reasons"),
  message: z.string().optional().describe("Only of a refused call: what was wrong and what would be right"),
};

export function defineTool<S extends z.ZodObject>({ input, output, run, ...rest }: Declaration<S>): Tool {
  const outputSchema = z.looseObject({ ...refusal, ...z.object(output).partial().shape });
  const inputSchema = z.toJSONSchema(input, { io: "input" });
  return {
    ...rest,
    inputSchema: inputSchema as McpTool["inputSchema"],
    outputSchema: z.toJSONSchema(outputSchema, { io: "output" }) as McpTool["inputSchema"],
    call: async (args, context) => run(parseArguments(input, inputSchema, args), context),
  };
}

/**
 * Clients send numbers and booleans as text, and null for what is absent: both are taken as meant.
 * @throws AppError INVALID_ARGUMENT naming the argument, what it must be and what it was.
 */
function parseArguments<S extends z.ZodObject>(
  schema: S,
  json: z.core.JSONSchema.BaseSchema,
  args: unknown,
): z.infer<S> {
  const given: Record<string, unknown> = { ...(isObject(args) ? args : {}) };
  for (const [name, value] of Object.entries(given)) {
    const property = json.properties?.[name];
    if (typeof property !== "object") continue;
    const meant = asMeant(value, property.type, json.required?.includes(name) ?? false);
    if (meant === undefined) delete given[name];
    else given[name] = meant;
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data as z.infer<S>;
  throw new AppError("INVALID_ARGUMENT", complaint(parsed.error, given, Object.keys(schema.shape)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asMeant(value: unknown, type: unknown, required: boolean): unknown {
  if (value === null && !required) return undefined;
  if (typeof value !== "string" || type === "string" || type === undefined) return value;
  const text = value.trim();
  if ((text === "null" || text === "") && !required) return undefined;
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : value;
  if (type === "number" || type === "integer") return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : value;
  return value;
}

function complaint(error: z.ZodError, given: Record<string, unknown>, known: readonly string[]): string {
  const issue = error.issues[0];
  if (!issue) return "The arguments are not valid";
  if (issue.code === "unrecognized_keys") {
    return `Unknown argument ${shorten(issue.keys.join(", "))}; the arguments are ${known.join(", ")}`;
  }
  const name = String(issue.path[0]);
  if (!(name in given)) return `The argument ${name} is missing`;
  return `${name} ${issue.message}, not ${shown(given[name])}`;
}

function shown(value: unknown): string {
  return shorten(typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value)));
}

/** Arguments that several tools share. */
export const args = {
  session: z.string({ error: "must be text" }).describe("Name of the session, from create_session or list_sessions"),
  start: z
    .int({ error: "must be a whole number" })
    .optional()
    .describe("First position, counted from 0; negative counts from the end"),
  end: z
    .int({ error: "must be a whole number" })
    .optional()
    .describe("Position after the last one, as in Python slices; negative counts from the end"),
  timeout: z
    .number({ error: "must be a number of seconds above 0" })
    .optional()
    .describe("Seconds, above 0, after which the code is interrupted; variables are kept when it can be"),
  echo: z.boolean({ error: "must be true or false" }).optional().describe("false leaves the code out of the reply"),
};

/** A reply whose text is the JSON of its structured content. */
export function jsonReply(content: Record<string, unknown>): CallToolResult {
  const structuredContent = { status: "ok", ...content };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

export function errorReply(error: AppError): CallToolResult {
  const structuredContent = { status: "error", code: error.code, message: error.message };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent, isError: true };
}
