/** One MCP client, described as data: where its configuration is and what an entry looks like. */
export type Client = {
  /** What a person types after `setup`. */
  readonly id: string;
  readonly title: string;
  /** Present when the client has a file of its own to write to. */
  readonly file?: ClientFile;
  /** Entries that start a program; absent when the client only knows URLs. */
  readonly stdio?: { readonly type?: string };
  /** How the client reaches a URL: by an entry in its file, or by steps a person takes in its windows. */
  readonly remote: RemoteEntry | RemoteSteps;
  /** What to do once the file is written, as one sentence. */
  readonly next: string;
};

export type ClientFile = {
  readonly format: "json" | "toml";
  /** False for a client whose own reader refuses comments and trailing commas. */
  readonly comments: boolean;
  /** The keys that lead to the object or table that holds one entry per server. */
  readonly path: readonly string[];
  /**
   * Path templates per platform, tried in order. `$NAME/` at the start is a folder of paths.ts; one `*` stands for
   * the rest of a folder's name and counts only where exactly one folder fits.
   */
  readonly user: Readonly<Record<Platform, readonly string[]>>;
  /** Relative to the project's folder; absent when the client has no file per project. */
  readonly project?: string;
};

export type RemoteEntry = {
  readonly urlKey: "url" | "serverUrl" | "httpUrl";
  readonly type?: string;
  readonly token: TokenForm;
};

export type RemoteSteps = { readonly steps: readonly string[] };

/** How an entry names the variable that holds the bearer token, so that the token itself is not in the file. */
export type TokenForm =
  /** A value of the `Authorization` header with `NAME` for the variable. */
  | { readonly kind: "header"; readonly value: string }
  /** A key of the entry whose value is the variable's name. */
  | { readonly kind: "key"; readonly key: string }
  /** VS Code: asked for once and kept in its secret storage; declared in the file's `inputs`. */
  | { readonly kind: "input" }
  /** Not possible; `why` says what to do instead. */
  | { readonly kind: "none"; readonly why: string };

export type Platform = "linux" | "darwin" | "win32";
