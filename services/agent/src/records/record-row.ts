import { FROM_BEFORE, type KeptRecord } from "@rockbot/agent";

/** A row of either database. What only this code reads of a record is one JSON text. */
interface RecordRow {
  readonly id: string;
  readonly maker: string;
  readonly name: string;
  readonly hash: string;
  readonly approved_hash: string | null;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly body: string;
}

/** The columns in the order of `valuesOf`. */
export const COLUMNS = [
  "id",
  "maker",
  "name",
  "hash",
  "approved_hash",
  "version",
  "created_at",
  "updated_at",
  "body",
] as const;

/** The values of a row. */
export function valuesOf({
  id,
  maker,
  name,
  hash,
  approvedHash,
  version,
  createdAt,
  updatedAt,
  ...rest
}: KeptRecord): (string | number | null)[] {
  return [id, maker, name, hash, approvedHash ?? null, version, createdAt, updatedAt, JSON.stringify(rest)];
}

/** About as many characters as its row has: each database counts some in its own way. */
export const charsOf = (record: KeptRecord): number => String(valuesOf(record).at(-1)).length;

/** The record of a row. */
export function recordOf<T extends KeptRecord>(row: Readonly<Record<string, unknown>>): T {
  const { id, maker, name, hash, approved_hash, version, created_at, updated_at, body } = row as unknown as RecordRow;
  const facts: Omit<KeptRecord, "isUntrusted" | "grant"> = {
    id,
    maker,
    name,
    hash,
    ...(approved_hash === null ? {} : { approvedHash: approved_hash }),
    version: Number(version),
    createdAt: Number(created_at),
    updatedAt: Number(updated_at),
  };
  return { grant: FROM_BEFORE, ...(JSON.parse(body) as Omit<T, keyof typeof facts>), ...facts } as T;
}
