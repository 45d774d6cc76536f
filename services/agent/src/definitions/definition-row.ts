import type { KeptDefinition } from "@rockbot/agent";

/** A row of either database. What only this code reads of a definition is one JSON text. */
export interface DefinitionRow {
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

/** In the order of `valuesOf`. */
export const COLUMNS = ["id", "maker", "name", "hash", "approved_hash", "version", "created_at", "updated_at", "body"] as const;

/** The values of a row. */
export function valuesOf({ id, maker, name, hash, approvedHash, version, createdAt, updatedAt, ...rest }: KeptDefinition): (string | number | null)[] {
  return [id, maker, name, hash, approvedHash ?? null, version, createdAt, updatedAt, JSON.stringify(rest)];
}

/** The definition of a row. */
export function definitionOf(row: Readonly<Record<string, unknown>>): KeptDefinition {
  const { id, maker, name, hash, approved_hash, version, created_at, updated_at, body } = row as unknown as DefinitionRow;
  return {
    ...(JSON.parse(body) as Pick<KeptDefinition, "description" | "playbook" | "tools" | "isUntrusted">),
    id,
    maker,
    name,
    hash,
    ...(approved_hash === null ? {} : { approvedHash: approved_hash }),
    version: Number(version),
    createdAt: Number(created_at),
    updatedAt: Number(updated_at),
  };
}
