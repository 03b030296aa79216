/** Bytes as text for the wire, and what kind of file they are. */

const CHUNK = 0x8000;

export function encodeBase64(data: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < data.length; at += CHUNK) {
    binary += String.fromCharCode(...data.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}

/** Undefined for text that is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text);
    const data = new Uint8Array(binary.length);
    for (let at = 0; at < data.length; at++) data[at] = binary.charCodeAt(at);
    return data;
  } catch {
    return undefined;
  }
}

const SIGNATURES: readonly (readonly [string, readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["application/pdf", [0x25, 0x50, 0x44, 0x46]],
  ["application/zip", [0x50, 0x4b, 0x03, 0x04]],
];

const SUFFIXES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  html: "text/html",
  ipynb: "application/x-ipynb+json",
  json: "application/json",
  md: "text/markdown",
  py: "text/x-python",
  svg: "image/svg+xml",
  txt: "text/plain",
  xml: "application/xml",
};

/** What a file is, by its first bytes and then by its name: a name alone proves no picture. */
export function mimeTypeOf(path: string, data: Uint8Array): string {
  const signed = SIGNATURES.find(([, bytes]) => bytes.every((byte, at) => data[at] === byte));
  if (signed) return signed[0];
  if (isWebp(data)) return "image/webp";
  return SUFFIXES[suffixOf(path)] ?? (data.includes(0) ? "application/octet-stream" : "text/plain");
}

/** Of names whose content must be looked at before it is shown as such. */
const OTHER_SUFFIXES: Readonly<Record<string, string>> = {
  bmp: "image/bmp",
  css: "text/css",
  gif: "image/gif",
  gz: "application/gzip",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  jsonl: "application/x-ndjson",
  log: "text/plain",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  parquet: "application/vnd.apache.parquet",
  pdf: "application/pdf",
  png: "image/png",
  tar: "application/x-tar",
  tif: "image/tiff",
  tiff: "image/tiff",
  toml: "application/toml",
  tsv: "text/tab-separated-values",
  wav: "audio/wav",
  webp: "image/webp",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};

/** What a file's name says that it is, for a link to it. */
export function mimeTypeOfName(path: string): string {
  const suffix = suffixOf(path);
  return SUFFIXES[suffix] ?? OTHER_SUFFIXES[suffix] ?? "application/octet-stream";
}

function suffixOf(path: string): string {
  return /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}

function isWebp(data: Uint8Array): boolean {
  const ascii = (from: number, to: number): string => String.fromCharCode(...data.subarray(from, to));
  return ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP";
}
