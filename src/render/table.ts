import type { Block } from "../core/session.ts";

export const TABLE_TYPE = "application/vnd.dataresource+json";

export type TableColumn = { readonly name: string; readonly type: string };

/** A data frame: rows hold the cells in the order of the columns, as JSON has them. */
export type Table = {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly unknown[])[];
  /** Rows of the whole frame, of which `rows` may be the first. */
  readonly total: number;
};

/** A Frictionless tabular data resource with inline rows. */
export type TableResource = {
  readonly schema: { readonly fields: readonly TableColumn[] };
  readonly data: readonly Readonly<Record<string, unknown>>[];
  /** Rows of the whole data frame, of which `data` may be the first. */
  readonly rows: number;
};

const TABLE_CHARS = 64 * 1024;

/**
 * @param maxChars Characters of JSON; rows beyond it are left out.
 * @returns The block's last table as a data resource, or undefined when it has none that is valid.
 */
export function tableOf(block: Block, maxChars = TABLE_CHARS): TableResource | undefined {
  const output = block.outputs.findLast((output) => output.type !== "stream" && output.data[TABLE_TYPE] !== undefined);
  if (output === undefined || output.type === "stream") return undefined;
  const table = parseTable(output.data[TABLE_TYPE] ?? "");
  if (table === undefined) return undefined;
  const data: Record<string, unknown>[] = [];
  let chars = 0;
  for (const row of table.rows) {
    const record = Object.fromEntries(table.columns.map(({ name }, index) => [name, row[index] ?? null]));
    chars += JSON.stringify(record).length + 1;
    if (chars > maxChars) break;
    data.push(record);
  }
  return { schema: { fields: table.columns }, data, rows: table.total };
}

/** @returns The table in a data resource's JSON, or undefined when it is not one. */
export function parseTable(json: string): Table | undefined {
  const resource = parsed(json);
  if (!isRecord(resource) || !isRecord(resource.schema) || !Array.isArray(resource.data)) return undefined;
  const { fields } = resource.schema;
  if (!Array.isArray(fields)) return undefined;
  const columns = fields.map((field: unknown) => {
    const { name = "", type = "any" } = isRecord(field) ? field : { name: field };
    return { name: String(name), type: String(type) };
  });
  const rows = resource.data.map((row: unknown) => {
    if (Array.isArray(row)) return row;
    return columns.map(({ name }) => (isRecord(row) ? (row[name] ?? null) : null));
  });
  const total = Math.max(rows.length, Number.isSafeInteger(resource.rows) ? Number(resource.rows) : 0);
  return { columns, rows, total };
}

/** Are the column's cells numbers, to be aligned at the right? */
export function isNumeric({ type }: TableColumn): boolean {
  return type === "number" || type === "integer";
}

/** @returns A cell as text: strings as they are, what is missing as nothing, all else as JSON. */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
