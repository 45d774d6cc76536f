import { isRecord } from "@rockbot/base";

/** What a run may use at most: the tools that a definition names, and of those what the maker of that may use. */
export interface Bound {
  readonly kind: "agent" | "wisp";
  readonly name: string;
  readonly maker: string;
  /** Names and globs. */
  readonly tools: readonly string[];
}

/** The grant of what nothing bounds but the policy. */
export const NO_BOUNDS = "[]";
/**
 * The grant of a record from before records had one. Nothing bounds it, and a turn that uses it counts as one that has
 * read untrusted content.
 */
export const FROM_BEFORE = "from before";

/** For a grant that cannot be read: it allows nothing. */
const NOTHING: Bound = { kind: "agent", name: "(a grant that cannot be read)", maker: "", tools: [] };

/** The bounds of a grant, as `grantOf` writes it. */
export function readGrant(text: string | undefined): readonly Bound[] {
  if (text === undefined || text === FROM_BEFORE) return [];
  try {
    const bounds: unknown = JSON.parse(text);
    return Array.isArray(bounds) && bounds.every(isBound) ? bounds : [NOTHING];
  } catch {
    return [NOTHING];
  }
}

/** The grant that has all of these bounds. A run has to keep to each. */
export function grantOf(...bounds: readonly Bound[]): string {
  return JSON.stringify([
    ...new Map(
      bounds.map(({ kind, name, maker, tools }) => [
        JSON.stringify([kind, name, maker, tools]),
        { kind, name, maker, tools },
      ]),
    ).values(),
  ]);
}

/**
 * The grant of a record that a session writes.
 * @param before that of the record as it was
 * @param session that of the session
 */
export const keptGrant = (before: string | undefined, session: string | undefined): string =>
  grantOf(...readGrant(before), ...readGrant(session));

/** True if a grant bounds anything. */
export const isBounded = (grant: string | undefined): boolean => readGrant(grant).length > 0;

/** The grant as part of a hash: an approval is of it, too. */
export const hashedGrant = (grant: string | undefined): string | undefined => (isBounded(grant) ? grant : undefined);

/**
 * Why a session may not change or delete a record that its caller has, in words; undefined if it may. One that is
 * bounded changes what it has left itself, as it could have its own words run with rights of others' otherwise.
 */
export function changeRefusal(kept: string | undefined, session: string | undefined): string | undefined {
  const has = readGrant(kept).map(idOf);
  const outside = readGrant(session).find((bound) => !has.includes(idOf(bound)));
  return (
    outside &&
    `it was made outside of the ${outside.kind} "${outside.name}", which changes only what it has made itself`
  );
}

/** The mark of a turn that uses a record: whether it is set, and where from. */
export function recordTaint(
  kind: string,
  {
    name,
    isUntrusted,
    grant,
  }: { readonly name: string; readonly isUntrusted: boolean; readonly grant?: string | undefined },
) {
  const isOld = grant === FROM_BEFORE && !isUntrusted;
  return {
    isUntrusted: isUntrusted || isOld,
    origin: isOld
      ? `${kind} ${name}, which an earlier release kept without its rights: save it anew`
      : `${kind} ${name}`,
  };
}

const idOf = ({ kind, name, maker }: Bound): string => JSON.stringify([kind, name, maker]);

const isBound = (value: unknown): value is Bound =>
  isRecord(value) &&
  (value["kind"] === "agent" || value["kind"] === "wisp") &&
  typeof value["name"] === "string" &&
  typeof value["maker"] === "string" &&
  Array.isArray(value["tools"]) &&
  value["tools"].every((tool) => typeof tool === "string");
