import { delegatesOf } from "../delegates.ts";
import type { PolicyApprovalRule, PolicyDocument, PolicyOperator } from "../generated/policy.ts";
import { ownedTopics } from "../owned-topics.ts";
import { type DocumentFault, entries, type PolicyPath } from "./document-place.ts";

/**
 * The faults of a policy that its schema cannot know. Names may be given twice, something may be missing that another
 * part needs, and a user may be believed too much.
 */
export function documentFaults(document: PolicyDocument): DocumentFault[] {
  const { identity, callers, services, operators, legacyPeers, approve } = document;
  const tokens = [
    ...entries(callers).map(([name, { tokens }]) => ({ path: ["callers", name, "tokens"], tokens })),
    ...operators.map(({ tokens }, i) => ({ path: ["operators", i, "tokens"], tokens })),
  ];
  return [
    ...(identity === "verified" && entries(services).length === 0 ? [servicesMissing] : []),
    ...repeated(
      tokens.flatMap(({ path, tokens }) => tokens.map(({ hash }, i): Named => [[...path, i, "hash"], hash])),
      "a token belongs to one caller or operator",
      "it",
    ),
    ...repeated(
      entries(callers).flatMap(([name, { user = name }]): Named[] =>
        user === null ? [] : [[["callers", name], user]],
      ),
      "a broker user belongs to one caller",
    ),
    ...repeated(
      entries(services).map(([name, { user = name }]): Named => [["services", name], user]),
      "a broker user belongs to one service",
    ),
    ...repeated(
      entries(services).flatMap(([name, service]): Named[] => [
        [["services", name, "topic"], service.topic],
        ...ownedTopics(name, service)
          .filter(({ topic }) => topic !== service.topic)
          .map(({ topic }, i): Named => [["services", name, "owns", i], topic]),
      ]),
      "a topic has one service",
    ),
    ...repeated(
      operators.flatMap(({ keys = [] }, at) => keys.map((key, i): Named => [["operators", at, "keys", i], key])),
      "a key belongs to one operator",
    ),
    ...repeated(
      operators.map(({ name }, i): Named => [["operators", i, "name"], name]),
      "an operator is named once",
    ),
    ...approve.flatMap((rule, i) => approvalFaults(rule, ["approve", i], operators)),
    ...legacyPeers.flatMap((name, i) => {
      const isDelegate = delegatesOf(document).some(({ user }) => user === name);
      const message = `"${name}" may call on behalf of others: so could any sender that takes that name, as a legacy peer is not verified`;
      return isDelegate ? [{ path: ["legacyPeers", i], message }] : [];
    }),
  ];
}

/** Nobody could fulfil a rule that has one of these. */
function approvalFaults(
  { by, needed }: PolicyApprovalRule,
  path: PolicyPath,
  operators: readonly PolicyOperator[],
): DocumentFault[] {
  const unable = by.flatMap((name, i) => {
    const operator = operators.find((each) => each.name === name);
    if (operator?.may.includes("decide") === true) return [];
    const message =
      operator === undefined
        ? `"${name}" is no operator: name one of operators`
        : `the operator "${name}" may not decide: add decide to its list may`;
    return [{ path: [...path, "by", i], message }];
  });
  const few = `${needed} operators must approve, and by names only ${by.length}: name more, or lower needed`;
  return [...unable, ...(needed > by.length ? [{ path: [...path, "needed"], message: few }] : [])];
}

const servicesMissing: DocumentFault = {
  path: ["identity"],
  message: '"verified" needs the property "services": without it nobody knows whose answers count',
};

type Named = readonly [path: PolicyPath, name: string];

/** @param what the words for a name that must not be shown */
function repeated(names: readonly Named[], rule: string, what?: string): DocumentFault[] {
  const first = new Map<string, PolicyPath>();
  return names.flatMap(([path, name]) => {
    const before = first.get(name);
    if (before === undefined) first.set(name, path);
    return before === undefined
      ? []
      : [{ path, message: `${what ?? `"${name}"`} stands at ${before.join(".")} already: ${rule}` }];
  });
}
