/** A file that a cell made or changed: its path in the cell's folder, absolute if it is elsewhere, and its bytes. */
export type ChangedFile = { readonly path: string; readonly size: number };

/**
 * What a cell left in its working folder. `folder` is where it began, absolute; `more` counts files that are not named.
 * Names that are not UTF-8 hold lone surrogates, as Python has them.
 */
export type ChangedFiles = {
  readonly folder: string;
  readonly changed: readonly ChangedFile[];
  readonly more: number;
};

/** How many files are named at most. */
export const MAX_CHANGED = 20;
/** Longer paths no system opens. */
export const MAX_PATH_CHARS = 4096;

/** @returns What a kernel says of its files, if it may be true: user code may have said it in the kernel's place. */
export function parseChangedFiles(value: unknown): ChangedFiles | undefined {
  const { folder, changed, more } = fieldsOf(value);
  if (!isPath(folder) || !folder.startsWith("/") || !isCount(more)) return undefined;
  if (!Array.isArray(changed) || changed.length === 0 || changed.length > MAX_CHANGED) return undefined;
  const files: ChangedFile[] = [];
  for (const item of changed) {
    const { path, size } = fieldsOf(item);
    if (!isPath(path) || !isCount(size)) return undefined;
    files.push({ path, size });
  }
  return { folder, changed: files, more };
}

/** @returns The path by which the file can be read, whichever folder is the current one then. */
export function absolutePath(folder: string, { path }: ChangedFile): string {
  return path.startsWith("/") ? path : `${folder.replace(/\/$/, "")}/${path}`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function isPath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_PATH_CHARS && !value.includes("\0");
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
