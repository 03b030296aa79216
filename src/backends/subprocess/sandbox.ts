/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** How to start a command so that it is confined: `cwd` and `env` are those of the program that confines it. */
export type Confined = {
  readonly command: Command;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** A session as the sandbox knows it: what it may see is made of these two. */
export type SandboxedSession = { readonly owner: string; readonly sessionId: string };

/** A step of an installation. Only `download`, which runs no code of packages, reaches the network. */
export type InstallStep =
  | { readonly kind: "download"; readonly owner: string; readonly wheels: string }
  | { readonly kind: "install"; readonly owner: string; readonly wheels: string; readonly packages: string };

/**
 * Confines what belongs to other people. What it does is the adapter's; this is what the backend asks of it.
 * Owners share nothing but the system: each has packages of its own, each session a home and a temporary folder.
 */
export type Sandbox = {
  /** Folder for the virtual environment of an owner's packages. */
  packagesFolder(owner: string): string;
  /**
   * Confines a kernel; `packages` is the owner's virtual environment, which it may read.
   * @param cwd As the caller gave it; absent: the session's home.
   * @throws AppError INVALID_CWD.
   */
  kernel(
    command: Command,
    session: SandboxedSession & { readonly cwd: string | undefined; readonly packages: string },
  ): Promise<Confined>;
  /** Confines the installer. */
  installer(command: Command, step: InstallStep): Promise<Confined>;
  /** Makes a folder for the wheels of one installation; `remove` ends it. */
  wheelsFolder(owner: string): Promise<{ readonly path: string; readonly remove: () => Promise<void> }>;
  /** Removes what was kept for a session that has ended for good. */
  forget(session: SandboxedSession): Promise<void>;
};
