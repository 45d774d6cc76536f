import { entries } from "./document/document-place.ts";
import { scriptToolsOf } from "./facets/scripts.ts";
import type { PolicyDocument } from "./generated/policy.ts";

/** A user who may call on behalf of others. */
export interface Delegate {
  readonly user: string;
  /** Patterns of names, with `*` for any characters: of those that it may call for. */
  readonly callers: readonly string[];
}

/**
 * The delegates that the policy names, the operators for dead letters, who play parked calls again, and the manager of
 * scripts, for callers whose scripts may call tools. A user may be there more than once.
 */
export function delegatesOf(document: PolicyDocument): Delegate[] {
  const { delegates, operators } = document;
  const named = delegates.map((entry) =>
    typeof entry === "string" ? { user: entry, callers: ALL } : { user: entry.user, callers: entry.for },
  );
  const scripted = callersOfScripts(document);
  return [
    ...named,
    ...letterOperators(operators).map(({ name }) => ({ user: name, callers: ALL })),
    ...(scripted.length === 0 ? [] : [{ user: scriptsUserOf(document), callers: scripted }]),
  ];
}

/** Runs scripts: whoever takes these messages. */
const SCRIPT_TOPIC = "script.invoke";
const SCRIPTS_MANAGER = "scripts-manager";

/** The user that makes the calls of scripts. */
export function scriptsUserOf({ services }: Pick<PolicyDocument, "services">): string {
  const [name, service] = entries(services).find(([, { topic }]) => topic === SCRIPT_TOPIC) ?? [];
  return service?.user ?? name ?? SCRIPTS_MANAGER;
}

/** Those whose scripts may call some tool. Anybody's may where everyone's list has one. */
function callersOfScripts(document: PolicyDocument): readonly string[] {
  if (scriptToolsOf(document, undefined).length > 0) return ALL;
  return entries(document.callers).flatMap(([name, own]) => (scriptToolsOf(document, own).length > 0 ? [name] : []));
}

const ALL = ["*"];

/** The operators who are users of the broker, too: they look after dead letters there. */
export const letterOperators = (operators: PolicyDocument["operators"]): PolicyDocument["operators"] =>
  operators.filter(({ may }) => may.includes("letters"));
