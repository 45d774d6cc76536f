import type { PolicyDocument } from "./generated/policy.ts";

/** A user who may call on behalf of others. */
export interface Delegate {
  readonly user: string;
  /** Patterns of names, with `*` for any characters: of those that it may call for. */
  readonly callers: readonly string[];
}

/** The delegates that the policy names, and the operators, who play parked calls again. A user may be there more than once. */
export function delegatesOf({ delegates, operators }: Pick<PolicyDocument, "delegates" | "operators">): Delegate[] {
  const named = delegates.map((entry) =>
    typeof entry === "string" ? { user: entry, callers: ALL } : { user: entry.user, callers: entry.for },
  );
  return [...named, ...operators.map(({ name }) => ({ user: name, callers: ALL }))];
}

const ALL = ["*"];
