import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  ServerEvent,
  Tool,
} from "@modelcontextprotocol/server";

export type FixtureArguments = Readonly<Record<string, unknown>>;

/** What a fixture tool may use besides its arguments. */
export type FixtureContext = ServerContext & { readonly publish: (event: ServerEvent) => void };

/** One tool of the registry that the conformance scenarios name. */
export type FixtureTool = {
  readonly description: string;
  /** Absent: the tool takes no arguments. */
  readonly inputSchema?: Tool["inputSchema"];
  readonly run: (
    args: FixtureArguments,
    context: FixtureContext,
  ) => CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>;
};

export type FixtureTools = Readonly<Record<string, FixtureTool>>;

export function text(value: string): CallToolResult {
  return { content: [{ type: "text", text: value }] };
}

/** Lets `ms` pass; the scenarios ask for delays between messages. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
