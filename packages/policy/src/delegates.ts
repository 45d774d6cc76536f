import type { PolicyDocument } from "./generated/policy.ts";

/** A user who may call on behalf of others. */
export interface Delegate {
  readonly user: string;
  /** Patterns of names, with `*` for any characters: of those that it may call for. */
  readonly callers: readonly string[];
}

/**
 * The delegates that the policy names, and the operators for dead letters, who play parked calls again. A user may be
 * there more than once.
 */
export function delegatesOf({ delegates, operators }: Pick<PolicyDocument, "delegates" | "operators">): Delegate[] {
  const named = delegates.map((entry) =>
    typeof entry === "string" ? { user: entry, callers: ALL } : { user: entry.user, callers: entry.for },
  );
  return [...named, ...letterOperators(operators).map(({ name }) => ({ user: name, callers: ALL }))];
}

const ALL = ["*"];

/** The operators who are users of the broker, too: they look after dead letters there. */
export const letterOperators = (operators: PolicyDocument["operators"]): PolicyDocument["operators"] =>
  operators.filter(({ may }) => may.includes("letters"));
