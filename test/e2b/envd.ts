import type { Stats } from "node:fs";
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, dirname, join, resolve } from "node:path";
import { serveProcess } from "./envd-process.ts";
import { header, readBody, readJson, sendJson } from "./http.ts";
import type { Sandbox } from "./sandbox.ts";

/** A failure of the Connect protocol: its code in words, the HTTP status that goes with it. */
export class ConnectError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Serves envd of a sandbox (port 49983): files by REST, file system and processes by the Connect protocol's JSON. */
export async function serveEnvd(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://sandbox");
  if (url.pathname === "/health") return sendJson(response, 204);
  if (header(request, "x-access-token") !== sandbox.envdToken) {
    return sendJson(response, 401, {
      code: 401,
      message: "unauthorized access, please provide a valid access token or method signing if supported",
    });
  }
  if (url.pathname === "/envs") return sendJson(response, 200, sandbox.readEnvs(sandbox.envdToken));
  if (url.pathname === "/files") return serveFiles(sandbox, url, request, response);
  if (url.pathname.startsWith("/process.Process/")) return serveProcess(sandbox, url.pathname, request, response);
  if (url.pathname.startsWith("/filesystem.Filesystem/"))
    return serveFilesystem(sandbox, url.pathname, request, response);
  sendJson(response, 404, {
    message: "This endpoint is reserved for the E2B control plane",
    path: url.pathname,
    code: 404,
  });
}

function absolute(sandbox: Sandbox, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(sandbox.home, path.slice(1));
  return path.startsWith("/") ? path : resolve(sandbox.home, path);
}

async function serveFiles(
  sandbox: Sandbox,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = absolute(sandbox, url.searchParams.get("path") ?? "");
  const fail = (code: number, message: string) => sendJson(response, code, { code, message });
  const found = await statOrUndefined(path);
  if (request.method === "GET") {
    if (!found) return fail(404, `path '${path}' does not exist`);
    if (found.isDirectory()) return fail(400, `path '${path}' is a directory`);
    const data = await readFile(path);
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": data.length });
    response.end(data);
    return;
  }
  if (request.method !== "POST") return fail(405, "method not allowed");
  if (found?.isDirectory()) return fail(400, `path is a directory: ${path}`);
  const data = fileIn(header(request, "content-type") ?? "", await readBody(request));
  if (!data) return fail(400, "unsupported content type, expected multipart/form-data or application/octet-stream");
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, data);
  } catch (error) {
    return fail(500, `error ensuring directories: ${(error as Error).message}`);
  }
  sendJson(response, 200, [{ path, name: basename(path), type: "file" }]);
}

/** The uploaded bytes: the whole body, or the first part of a form. */
function fileIn(contentType: string, body: Buffer): Buffer | undefined {
  if (contentType === "application/octet-stream") return body;
  const boundary = /^multipart\/form-data; *boundary="?([^";]+)/.exec(contentType)?.[1];
  if (!boundary) return undefined;
  const from = body.indexOf("\r\n\r\n") + 4;
  return body.subarray(from, body.indexOf(`\r\n--${boundary}`, from));
}

async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch {
    return undefined; // missing, or below a file
  }
}

async function serveFilesystem(
  sandbox: Sandbox,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readJson(request);
  const at = (name: string) => absolute(sandbox, String(body[name] ?? ""));
  try {
    sendJson(response, 200, await answer(path.split("/").pop() ?? "", at, Number(body.depth ?? 1)));
  } catch (error) {
    const told = connectErrorOf(error);
    sendJson(response, told.status, { code: told.code, message: told.message });
  }
}

function connectErrorOf(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return new ConnectError("not_found", 404, `file not found: ${message}`);
  return new ConnectError("internal", 500, `error getting file info: ${message}`);
}

async function answer(method: string, at: (name: string) => string, depth: number): Promise<unknown> {
  switch (method) {
    case "Stat":
      return { entry: await entryOf(at("path")) };
    case "ListDir":
      return { entries: await listDir(at("path"), depth) };
    case "MakeDir":
      if (await statOrUndefined(at("path")))
        throw new ConnectError("already_exists", 409, `directory already exists: ${at("path")}`);
      await mkdir(at("path"), { recursive: true });
      return { entry: await entryOf(at("path")) };
    case "Move":
      await mkdir(dirname(at("destination")), { recursive: true });
      await rename(at("source"), at("destination"));
      return { entry: await entryOf(at("destination")) };
    case "Remove":
      await rm(at("path"), { recursive: true, force: true });
      return {};
    default:
      throw new ConnectError("unimplemented", 501, `unknown method ${method}`);
  }
}

async function listDir(path: string, depth: number): Promise<unknown[]> {
  if (!(await stat(await realpath(path))).isDirectory()) {
    throw new ConnectError("invalid_argument", 400, `path is not a directory: ${path}`);
  }
  const entries: unknown[] = [];
  for (const name of (await readdir(path)).sort()) {
    const full = join(path, name);
    entries.push(await entryOf(full));
    if (depth > 1 && (await lstat(full)).isDirectory()) entries.push(...(await listDir(full, depth - 1)));
  }
  return entries;
}

/** As protobuf's JSON: 64-bit numbers are strings. */
async function entryOf(path: string): Promise<Record<string, unknown>> {
  const link = await lstat(path);
  const found = link.isSymbolicLink() ? ((await statOrUndefined(path)) ?? link) : link;
  const kind = found.isDirectory() ? "DIRECTORY" : found.isFile() ? "FILE" : "UNSPECIFIED";
  return {
    name: basename(path),
    type: `FILE_TYPE_${kind}`,
    path,
    size: String(found.size),
    mode: found.mode & 0o777,
    permissions: "-rw-r--r--",
    owner: "root",
    group: "root",
    modifiedTime: found.mtime.toISOString(),
    ...(link.isSymbolicLink() ? { symlinkTarget: await realpath(path).catch(() => path) } : {}),
  };
}
