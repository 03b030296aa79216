import { chmod, chown, lchown, lstat, mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { askProgram } from "../../src/backends/subprocess/run-program.ts";
import { decodeSegment, encodeSegment } from "../../src/store/keys.ts";
import type { Ids } from "./ids.ts";
import { INSIDE_ID } from "./view.ts";

export type SessionFolders = {
  readonly home: string;
  readonly temporary: string;
  /** Names the one user that exists inside. */
  readonly passwd: string;
  readonly group: string;
  /** Id that the session's processes take; undefined where they keep the server's. */
  readonly id: number | undefined;
};

/** A folder that confined processes of this id may write; undefined where they keep the server's. */
export type GivenFolder = { readonly path: string; readonly id: number | undefined };

/** Folders of this machine that sandboxes show. Below `root`: `<owner>/packages`, `<owner>/s/<session>/{home,tmp,…}`. */
export type SandboxFolders = {
  packages(owner: string): string;
  /** For the worker's compiled modules. */
  bytecode(): Promise<GivenFolder>;
  /** Id that installations of the owner take. */
  installerId(owner: string): number | undefined;
  session(owner: string, sessionId: string): Promise<SessionFolders>;
  /** A folder for one installation. */
  wheels(owner: string): Promise<string>;
  /** Lets the installer write into a folder that the server has made. */
  giveToInstaller(owner: string, folder: string): Promise<void>;
  forget(owner: string, sessionId: string): Promise<void>;
  /** Removes what belongs to sessions that are no more. @returns How many. */
  sweep(exists: (owner: string, sessionId: string) => Promise<boolean>): Promise<number>;
};

const REMOVE_MS = 60_000;

export function createSandboxFolders(root: string, ids: Ids | undefined): SandboxFolders {
  const ownerFolder = (owner: string): string => join(root, encodeSegment(owner));
  const sessionFolder = (owner: string, id: string): string => join(ownerFolder(owner), "s", encodeSegment(id));
  const installerId = (owner: string): number | undefined => ids?.(`packages ${owner}`);
  return {
    packages: (owner) => join(ownerFolder(owner), "packages"),
    installerId,
    async bytecode() {
      const id = ids?.("bytecode");
      return { path: await ownFolder(join(root, "bytecode"), id, 0o755), id };
    },
    async session(owner, sessionId) {
      const folder = sessionFolder(owner, sessionId);
      const id = ids?.(`session ${owner} ${sessionId}`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const [home, temporary] = [await ownFolder(join(folder, "home"), id), await ownFolder(join(folder, "tmp"), id)];
      return { home, temporary, ...(await nameUser(folder, id)), id };
    },
    async wheels(owner) {
      await mkdir(ownerFolder(owner), { recursive: true, mode: 0o700 });
      const folder = await mkdtemp(join(ownerFolder(owner), "wheels-"));
      const id = installerId(owner);
      if (id !== undefined) await chown(folder, id, id);
      return folder;
    },
    async giveToInstaller(owner, folder) {
      const id = installerId(owner);
      if (id !== undefined && (await lstat(folder)).uid !== id) await giveTree(folder, id);
    },
    forget: (owner, sessionId) => removeTree(sessionFolder(owner, sessionId)),
    async sweep(exists) {
      let removed = 0;
      for (const { owner, sessionId } of await sessionsIn(root)) {
        if (await exists(owner, sessionId)) continue;
        await removeTree(sessionFolder(owner, sessionId));
        removed += 1;
      }
      return removed;
    },
  };
}

async function ownFolder(path: string, id: number | undefined, mode = 0o700): Promise<string> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
  if (id !== undefined) await chown(path, id, id);
  return path;
}

/** Libraries look up who they run as. */
async function nameUser(folder: string, id = INSIDE_ID): Promise<{ passwd: string; group: string }> {
  const [passwd, group] = [join(folder, "passwd"), join(folder, "group")];
  await writeFile(passwd, `repl:x:${id}:${id}::/home/repl:/bin/sh\n`);
  await writeFile(group, `repl:x:${id}:\n`);
  for (const path of [passwd, group]) await chmod(path, 0o644);
  return { passwd, group };
}

/** The folder itself comes last: that it is given tells that all in it is. */
async function giveTree(path: string, id: number): Promise<void> {
  if ((await lstat(path)).isDirectory()) {
    for (const name of await readdir(path)) await giveTree(join(path, name), id);
  }
  await lchown(path, id, id);
}

/**
 * Code may have taken the rights to its own folders away, or nested them deeper than a path can say, which these
 * programs can deal with and the runtime's functions cannot. Links are removed, never followed.
 * @throws Error when something is left.
 */
export async function removeTree(path: string): Promise<void> {
  if (await run(["rm", "-rf", "--", path])) return;
  await run(["chmod", "-R", "u+rwX", "--", path]);
  if (!(await run(["rm", "-rf", "--", path]))) throw new Error(`${path} could not be removed`);
}

async function run(command: readonly [string, ...string[]]): Promise<boolean> {
  const env = { PATH: `${process.env.PATH ?? ""}:/usr/bin:/bin` };
  return (await askProgram(command, { env, limitMs: REMOVE_MS })) !== undefined;
}

async function sessionsIn(root: string): Promise<{ owner: string; sessionId: string }[]> {
  const found: { owner: string; sessionId: string }[] = [];
  for (const ownerName of await readdir(root).catch(() => [])) {
    const owner = decodeSegment(ownerName);
    if (owner === undefined) continue;
    for (const name of await readdir(join(root, ownerName, "s")).catch(() => [])) {
      const sessionId = decodeSegment(name);
      if (sessionId !== undefined) found.push({ owner, sessionId });
    }
  }
  return found;
}
