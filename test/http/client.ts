/** What the checks see of any client, whichever library, revision and transport it is. */

export type Content = {
  readonly type: string;
  readonly text?: string;
  readonly mimeType?: string;
  readonly data?: string;
  readonly uri?: string;
  readonly name?: string;
};

export type ToolReply = {
  readonly isError: boolean;
  /** All text blocks, joined by line breaks. */
  readonly text: string;
  readonly content: readonly Content[];
  readonly structured: Readonly<Record<string, unknown>>;
};

export type ToolInfo = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: Readonly<Record<string, unknown>>;
};

export type JsonSchema = {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
};

export type ResourceInfo = { readonly uri: string; readonly mimeType?: string };
export type ResourceText = {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  /** Base64, in place of `text`. */
  readonly blob?: string;
};

export type CallOptions = {
  readonly signal?: AbortSignal;
  readonly onProgress?: (message: string) => void;
};

export type ReplClient = {
  /** Rejects when the protocol fails; a refused call is a reply. */
  call(tool: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolReply>;
  tools(): Promise<readonly ToolInfo[]>;
  resources(): Promise<readonly ResourceInfo[]>;
  /** URI templates. */
  resourceTemplates(): Promise<readonly string[]>;
  /** Rejects for a URI that is not there. */
  read(uri: string): Promise<ResourceText>;
  /** The protocol revision both sides agreed on. */
  readonly revision: string;
  /** Ends the connection; what is still in flight is not cancelled by a message. */
  close(): Promise<void>;
};

/** Where the server is: the MCP endpoint's address, or the command of a stdio server and its settings. */
export type Target =
  | { readonly url: URL; readonly headers?: Readonly<Record<string, string>> }
  | { readonly command: readonly [string, ...string[]]; readonly env: Record<string, string> };

/** One way to reach a server: a client library, the era it speaks, and a transport. */
export type Leg = {
  readonly name: string;
  readonly transport: "Streamable HTTP" | "HTTP+SSE" | "stdio";
  readonly era: "2025" | "2026";
  connect(target: Target): Promise<ReplClient>;
};

/** What both libraries have in common, apart from how a tool is called. */
type SdkClient = {
  listTools(): Promise<{ tools: unknown }>;
  listResources(): Promise<{ resources: unknown }>;
  listResourceTemplates(): Promise<{ resourceTemplates: readonly { uriTemplate: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: readonly unknown[] }>;
  close(): Promise<void>;
};

export type SdkOptions = {
  readonly timeout: number;
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { message?: string | undefined }) => void;
};

type CallTool = (call: { name: string; arguments: Record<string, unknown> }, options: SdkOptions) => Promise<unknown>;

export const CLIENT_INFO = { name: "black-box-suite", version: "1.0.0" };

/** Longer than any call of a check takes, shorter than a test may. */
export const CALL_LIMIT_MS = 30_000;

/** A connected client of either library, as the checks see it. */
export async function wrap(client: SdkClient, callTool: CallTool, revision: string): Promise<ReplClient> {
  // From here on the client itself checks each structured reply against the published schema.
  await client.listTools();
  return {
    revision,
    async call(name, args = {}, { signal, onProgress } = {}) {
      const reply = await callTool(
        { name, arguments: { ...args } },
        {
          timeout: CALL_LIMIT_MS,
          ...(signal ? { signal } : {}),
          ...(onProgress ? { onprogress: ({ message }) => onProgress(message ?? "") } : {}),
        },
      );
      return toReply(reply as RawReply);
    },
    tools: async () => (await client.listTools()).tools as ToolInfo[],
    resources: async () => (await client.listResources()).resources as ResourceInfo[],
    resourceTemplates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    async read(uri) {
      const [content] = (await client.readResource({ uri })).contents;
      if (!content) throw new Error(`${uri} has no contents`);
      return content as ResourceText;
    },
    close: () => client.close(),
  };
}

type RawReply = {
  readonly content?: readonly Content[];
  readonly structuredContent?: ToolReply["structured"];
  readonly isError?: boolean;
};

function toReply({ content = [], structuredContent = {}, isError = false }: RawReply): ToolReply {
  const texts = content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : []));
  return { isError, text: texts.join("\n"), content, structured: structuredContent };
}
