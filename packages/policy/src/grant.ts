import { isRecord } from "@rockbot/base";

/** The most that a run may use: the tools that a definition names, as far as the definition's maker may use them. */
export interface Bound {
  readonly kind: "agent" | "wisp";
  readonly name: string;
  readonly maker: string;
  /** Names and globs. */
  readonly tools: readonly string[];
}

/**
 * The grant of a record from before records had one. Nothing bounds it, and a turn that uses it counts as one that has
 * read untrusted content.
 */
export const FROM_BEFORE = "from before";

/** For a grant that cannot be read: it allows nothing. */
const NOTHING: Bound = { kind: "agent", name: "(a grant that cannot be read)", maker: "", tools: [] };

/** The bounds of a grant, as its agent writes it. */
export function readGrant(text: string | undefined): readonly Bound[] {
  if (text === undefined || text === FROM_BEFORE) return [];
  try {
    const bounds: unknown = JSON.parse(text);
    return Array.isArray(bounds) && bounds.every(isBound) ? bounds : [NOTHING];
  } catch {
    return [NOTHING];
  }
}

const isBound = (value: unknown): value is Bound =>
  isRecord(value) &&
  (value["kind"] === "agent" || value["kind"] === "wisp") &&
  typeof value["name"] === "string" &&
  typeof value["maker"] === "string" &&
  Array.isArray(value["tools"]) &&
  value["tools"].every((tool) => typeof tool === "string");
