/** The steps to a value in a policy document: names of properties, and places in lists from 0. */
export type PolicyPath = readonly (string | number)[];

/** A fault of a policy, and its place. */
export interface DocumentFault {
  readonly path: PolicyPath;
  readonly message: string;
}

/** The entries of a mapping of the document. */
export function entries<T>(mapping: Readonly<Record<string, T | undefined>>): [string, T][] {
  return Object.entries(mapping).filter((entry): entry is [string, T] => entry[1] !== undefined);
}
