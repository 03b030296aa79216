import type { FileEntry, KernelFiles } from "../../core/backend.ts";
import { AppError } from "../../core/errors.ts";
import { ENVD_PORT } from "./address.ts";
import { joined } from "./lines.ts";
import { userHeader } from "./process.ts";
import type { KernelFacts } from "./ref.ts";
import type { RemoteSandbox } from "./sandbox.ts";

type EntryInfo = {
  readonly name: string;
  readonly path: string;
  readonly type?: string;
  /** A 64-bit number, absent when zero. */
  readonly size?: string | number;
  readonly modifiedTime?: string;
  readonly symlinkTarget?: string;
};

/**
 * The file system of a sandbox through envd, also while a cell runs.
 * @param cwd The kernel's folder where it is known for sure.
 */
export function createFiles(sandbox: RemoteSandbox, facts: KernelFacts, cwd: () => string | undefined): KernelFiles {
  const call = (method: string, body: unknown) => callFilesystem(sandbox, facts, method, body);
  const resolve = async (path: string): Promise<string> => {
    if (path.includes("\0")) throw new AppError("FILE_NOT_FOUND", `No file can be named ${JSON.stringify(path)}`);
    if (/\p{Surrogate}/u.test(path)) {
      throw new AppError("FILE_NOT_FOUND", `E2B reaches no file whose name is not UTF-8, as ${JSON.stringify(path)}`);
    }
    if (path.startsWith("/")) return normal(path);
    return normal(`${cwd() ?? (await folderOf(call, facts))}/${path}`);
  };
  return {
    read: async (path, limit) => readFile(sandbox, facts, path, await resolve(path), limit),
    write: async (path, data) => writeFile(sandbox, facts, call, path, await resolve(path), data),
    list: async (path, limit) => listFolder(call, path, await resolve(path), limit),
  };
}

type Call = (
  method: string,
  body: unknown,
) => Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;

async function callFilesystem(sandbox: RemoteSandbox, facts: KernelFacts, method: string, body: unknown) {
  const response = await sandbox.request({
    port: ENVD_PORT,
    method: "POST",
    path: `/filesystem.Filesystem/${method}`,
    headers: { "Content-Type": "application/json", "Connect-Protocol-Version": "1", ...userHeader(facts.user) },
    body: JSON.stringify(body),
  });
  const parsed: unknown = await response.json().catch(() => ({}));
  return { status: response.status, body: (parsed ?? {}) as Record<string, unknown> };
}

/** The folder that the kernel's process is in, also in the middle of a cell. */
async function folderOf(call: Call, facts: KernelFacts): Promise<string> {
  const { body } = await call("Stat", { path: `/proc/${facts.pid}/cwd` });
  const { symlinkTarget } = (body.entry ?? {}) as Partial<EntryInfo>;
  if (symlinkTarget) return symlinkTarget;
  throw new AppError(
    "BACKEND_UNAVAILABLE",
    "The interpreter's folder in the sandbox is not known; give an absolute path",
  );
}

/** Without `.`, `..` and double slashes. */
export function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function fileUrl(path: string, facts: KernelFacts): string {
  return `/files?path=${encodeURIComponent(path)}&username=${encodeURIComponent(facts.user)}`;
}

async function readFile(sandbox: RemoteSandbox, facts: KernelFacts, shown: string, path: string, limit: number) {
  const response = await sandbox.request({
    port: ENVD_PORT,
    method: "GET",
    path: fileUrl(path, facts),
    headers: userHeader(facts.user),
  });
  if (!response.ok) throw readError(response.status, await response.text().catch(() => ""), shown);
  const size = Number(response.headers.get("content-length") ?? 0);
  const data = size > limit ? undefined : await readBody(response, limit);
  if (data) return { path, data };
  await response.body?.cancel().catch(() => undefined); // it was cancelled while it was read
  throw new AppError("TOO_LARGE", `File ${JSON.stringify(shown)} is larger than the ${limit} bytes that can be read`);
}

async function readBody(response: Response, limit: number): Promise<Uint8Array | undefined> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size <= limit) continue;
    await reader.cancel();
    return undefined;
  }
  return joined(parts);
}

function readError(status: number, body: string, shown: string): AppError {
  const name = JSON.stringify(shown);
  if (status === 404) return new AppError("FILE_NOT_FOUND", `File ${name} not found in the sandbox`);
  if (/is a directory/.test(body)) return new AppError("FILE_UNREADABLE", `${name} is a folder, not a file`);
  if (/not a directory/i.test(body))
    return new AppError("FILE_NOT_FOUND", `File ${name} not found: a part of its path is no folder`);
  return new AppError("FILE_UNREADABLE", `File ${name} cannot be read in the sandbox (status ${status})`);
}

/** Beside its place first, then renamed, so that nobody ever sees half of it. */
async function writeFile(
  sandbox: RemoteSandbox,
  facts: KernelFacts,
  call: Call,
  shown: string,
  path: string,
  data: Uint8Array,
) {
  const refuse = (why: string) =>
    new AppError("FILE_NOT_WRITABLE", `File ${JSON.stringify(shown)} cannot be written: ${why}`);
  const present = await call("Stat", { path });
  const { type } = (present.body.entry ?? {}) as Partial<EntryInfo>;
  if (type === "FILE_TYPE_DIRECTORY") throw refuse("it is a folder");
  const beside = `${path.slice(0, path.lastIndexOf("/"))}/.${crypto.randomUUID()}.part`;
  const headers = { "Content-Type": "application/octet-stream", ...userHeader(facts.user) };
  const body = new Uint8Array(data);
  const sent = await sandbox.request({ port: ENVD_PORT, method: "POST", path: fileUrl(beside, facts), headers, body });
  const told = await sent.text();
  const moved = sent.ok ? await call("Move", { source: beside, destination: path }) : undefined;
  if (moved?.status === 200) return { path, replaced: present.status === 200 };
  await call("Remove", { path: beside }).catch(() => undefined); // it may never have been there
  if (/path is a file|not a directory/i.test(told)) throw refuse("a part of its path is a file");
  if (sent.status === 507) throw refuse("the sandbox's disk is full");
  throw refuse(`the sandbox answered with status ${moved?.status ?? sent.status}`);
}

async function listFolder(call: Call, shown: string, path: string, limit: number): Promise<readonly FileEntry[]> {
  const { status, body } = await call("ListDir", { path, depth: 1 });
  if (status !== 200) {
    const why = body.code === "invalid_argument" ? "is a file, not a folder" : "not found in the sandbox";
    throw new AppError("FILE_NOT_FOUND", `Folder ${JSON.stringify(shown)} ${why}`);
  }
  const entries = ((body.entries ?? []) as EntryInfo[]).map(entryOf);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, limit);
}

function entryOf({ name, path, type, size, modifiedTime }: EntryInfo): FileEntry {
  const kind = type === "FILE_TYPE_FILE" ? "file" : type === "FILE_TYPE_DIRECTORY" ? "folder" : "other";
  return { name, path, kind, size: Number(size ?? 0), modified: modifiedTime ? Date.parse(modifiedTime) / 1000 : 0 };
}
