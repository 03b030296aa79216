import { posix, win32 } from "node:path";
import type { CliIo } from "../setup-io.ts";
import type { Client, Platform } from "./types.ts";

/** Lists the names in a folder; an unreadable or missing folder has none. */
export type ListFolder = (folder: string) => readonly string[];

/** Folders a path template may start with: the variable when it is set, else the platform's place. */
function folders(io: Pick<CliIo, "env" | "home">): Readonly<Record<string, string>> {
  const { env, home } = io;
  return {
    HOME: home,
    XDG_CONFIG_HOME: env.XDG_CONFIG_HOME || `${home}/.config`,
    APPDATA: env.APPDATA || `${home}/AppData/Roaming`,
    LOCALAPPDATA: env.LOCALAPPDATA || `${home}/AppData/Local`,
    CODEX_HOME: env.CODEX_HOME || `${home}/.codex`,
    CLAUDE_CONFIG_DIR: env.CLAUDE_CONFIG_DIR || home,
  };
}

export function pathsOf(platform: string): typeof posix {
  return platform === "win32" ? win32 : posix;
}

/** Resolves the one `*` of a template; undefined unless exactly one folder fits. */
function fill(path: string, list: ListFolder): string | undefined {
  const [before, after] = path.split("*");
  if (before === undefined || after === undefined) return path;
  const cut = Math.max(before.lastIndexOf("/"), before.lastIndexOf("\\"));
  const start = before.slice(cut + 1);
  const fits = list(before.slice(0, cut)).filter((name) => name.startsWith(start));
  return fits.length === 1 ? before.slice(0, cut + 1) + fits[0] + after : undefined;
}

/** Where the client keeps its configuration for this person, or undefined on a platform it does not run on. */
export function userFile(client: Client, io: CliIo, list: ListFolder): string | undefined {
  const templates = client.file?.user[io.platform as Platform] ?? client.file?.user.linux ?? [];
  const known = folders(io);
  for (const template of templates) {
    const path = template.replace(/^\$([A-Z_]+)/, (_, name: string) => known[name] ?? "");
    const filled = fill(path, list);
    if (filled !== undefined) return pathsOf(io.platform).normalize(filled);
  }
  return undefined;
}

/** The client's file in the project's folder, or undefined when it has none. */
export function projectFile(client: Client, io: CliIo): string | undefined {
  const relative = client.file?.project;
  return relative === undefined ? undefined : pathsOf(io.platform).join(io.cwd ?? process.cwd(), relative);
}
