import { type Bound, FROM_BEFORE, readGrant } from "@rockbot/policy";

export { type Bound, FROM_BEFORE, readGrant };

/** The grant of what nothing bounds but the policy. */
export const NO_BOUNDS = "[]";
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
