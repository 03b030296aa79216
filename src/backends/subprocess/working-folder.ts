import { access, constants, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative, resolve } from "node:path";
import { AppError } from "../../core/errors.ts";

/**
 * Returns the folder to start a kernel in: `wanted` (`~` is the home folder, a relative path starts at `base`) or `base`.
 * @param root Folder that it must lie in.
 * @throws AppError INVALID_CWD.
 */
export async function resolveFolder(wanted: string | undefined, base: string, root?: string): Promise<string> {
  const shown = JSON.stringify(wanted ?? base);
  const folder = resolve(base, expandHome(wanted ?? base));
  const refuse = (why: string, cause?: unknown): AppError =>
    new AppError("INVALID_CWD", `cwd ${shown} ${why}; give an existing folder`, { cause });
  if (folder.includes("\0")) throw refuse("holds a NUL character");
  const info = await stat(folder).catch((cause: unknown) => {
    throw refuse("does not exist", cause);
  });
  if (!info.isDirectory()) throw refuse("is not a folder");
  await access(folder, constants.R_OK | constants.X_OK).catch((cause: unknown) => {
    throw refuse("may not be read", cause);
  });
  if (root !== undefined && !isInside(await realpath(folder), await realpath(root))) {
    throw refuse("lies outside the folder that this server allows");
  }
  return folder;
}

function isInside(folder: string, root: string): boolean {
  const path = relative(root, folder);
  return path !== ".." && !path.startsWith("../");
}

function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}
