import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CliError } from "./setup-io.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** A configuration file as it was read. `text` is undefined when there is none yet. */
export type ConfigFile = { readonly path: string; readonly text: string | undefined; readonly mode: number };

function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known: Readonly<Record<string, string>> = {
    EACCES: "permission denied",
    EPERM: "permission denied",
    EISDIR: "it is a folder",
    ENOTDIR: "a part of its path is not a folder",
    EROFS: "the file system is read-only",
    ENOSPC: "the disk is full",
    ELOOP: "its links lead in a circle",
  };
  return known[code] ?? (code || String(error));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** No file yet, which a link that leads nowhere is not: writing would replace the link. */
async function missingFile(path: string): Promise<ConfigFile> {
  const link = await lstat(path).catch((error: unknown) => (isMissing(error) ? undefined : Promise.reject(error)));
  if (link !== undefined) throw new CliError(`${path} was left alone: it is a link to a file that does not exist`);
  return { path, text: undefined, mode: 0o600 };
}

/**
 * Reads a configuration file; links are followed, so that writing keeps the link.
 * @throws CliError when it is there but cannot be read, is larger than 32 MB or is not UTF-8.
 */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  try {
    const real = await realpath(path);
    const { size, mode } = await stat(real);
    if (size > MAX_BYTES) throw new CliError(`${path} was left alone: it has ${size} bytes, more than ${MAX_BYTES}`);
    const bytes = await readFile(real);
    return {
      path: real,
      text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
      mode: mode & 0o777,
    };
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (isMissing(error)) return missingFile(path);
    if (error instanceof TypeError) throw new CliError(`${path} was left alone: it is not UTF-8 text`);
    throw new CliError(`Cannot read ${path}: ${reason(error)}`);
  }
}

async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(text, "utf8");
    await file.sync();
  } finally {
    await file.close();
  }
  await chmod(path, mode);
}

/** `config.json.20261201-101500.bak`, beside the file; a number is added when that is taken. */
async function writeBackup(file: ConfigFile, text: string, now: Date): Promise<string> {
  const stamp = now.toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  for (let count = 0; count < 100; count++) {
    const path = `${file.path}.${stamp}${count === 0 ? "" : `-${count}`}.bak`;
    try {
      await writeWhole(path, text, file.mode);
      return path;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
  throw new CliError(`${file.path} was left alone: too many backups of this second beside it`);
}

/**
 * Replaces the file whole or not at all, with a backup of what it was beside it.
 * @returns the backup's path, or undefined when there was no file.
 * @throws CliError when it cannot be written, or was changed by another program since it was read.
 */
export async function writeConfigFile(file: ConfigFile, text: string, now = new Date()): Promise<string | undefined> {
  const folder = dirname(file.path);
  const temporary = join(folder, `.${basename(file.path)}.${randomBytes(6).toString("hex")}.tmp`);
  let made = false;
  try {
    await mkdir(folder, { recursive: true });
    await writeWhole(temporary, text, file.mode);
    made = true;
    const { text: present } = await readConfigFile(file.path);
    if (present !== file.text) {
      throw new CliError(`${file.path} was changed by another program just now and was left alone: run this again`);
    }
    const backup = file.text === undefined ? undefined : await writeBackup(file, file.text, now);
    await rename(temporary, file.path);
    made = false;
    return backup;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`Cannot write ${file.path}: ${reason(error)}`);
  } finally {
    if (made) await rm(temporary, { force: true });
  }
}
