import type { PolicyDocument } from "./generated/policy.ts";
import { scriptToolsOf } from "./script-tools.ts";

/** A user who may call on behalf of others. */
export interface Delegate {
  readonly user: string;
  /** Patterns of names, with `*` for any characters: of those that it may call for. */
  readonly callers: readonly string[];
}

/**
 * The delegates that the policy names, and the operators for dead letters, who play parked calls again. The manager of
 * scripts is one for callers whose scripts may call tools. A user may be there more than once.
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

/** The topic of the service that runs scripts. */
const SCRIPT_TOPIC = "script.invoke";
const SCRIPTS_MANAGER = "scripts-manager";

/** The user that makes the calls of scripts. */
export function scriptsUserOf({ services }: Pick<PolicyDocument, "services">): string {
  const [name, service] = Object.entries(services).find(([, each]) => each?.topic === SCRIPT_TOPIC) ?? [];
  return service?.user ?? name ?? SCRIPTS_MANAGER;
}

/** Patterns for the callers whose scripts may call some tool: for all callers where everyone's list has one. */
function callersOfScripts(document: PolicyDocument): readonly string[] {
  if (scriptToolsOf(document, undefined).length > 0) return ALL;
  return Object.entries(document.callers).flatMap(([name, own]) =>
    scriptToolsOf(document, own).length > 0 ? [name] : [],
  );
}

const ALL = ["*"];

/** The operators who are users of the broker, too: they look after dead letters there. */
export const letterOperators = (operators: PolicyDocument["operators"]): PolicyDocument["operators"] =>
  operators.filter(({ may }) => may.includes("letters"));
