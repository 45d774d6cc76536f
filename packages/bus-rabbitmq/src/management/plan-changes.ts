import { isDeepStrictEqual } from "node:util";
import { type BrokerDefinitions, type DefinedUser, OWNED_TAG } from "../definitions/broker-definitions.ts";
import { isHashOf } from "../definitions/password-hash.ts";
import type { BrokerState } from "./broker-state.ts";
import type { Change } from "./management-api.ts";

/** What leads from the state of a broker to the definitions, in the order in which it is safe. */
export interface Plan {
  readonly changes: readonly Change[];
  /** What stands in the way, in words. */
  readonly faults: readonly string[];
}

const path = (...parts: readonly string[]): string => parts.map(encodeURIComponent).join("/");

/**
 * Compares. Rights are taken away before others are given. The topics of a user come before its permissions: as long as
 * RabbitMQ knows no topics for a user, all are allowed. Only users with RockBot's tag lose rights, or are deleted; one
 * with rights in another virtual host, too, stays there.
 */
export function planChanges(
  state: BrokerState,
  wanted: BrokerDefinitions,
  vhost: string,
  passwords: ReadonlyMap<string, string>,
): Plan {
  const faults = [...userFaults(state, wanted), ...exchangeFaults(state, wanted)];
  const hostChanges: Change[] = state.hasVhost
    ? []
    : [{ method: "PUT", path: path("vhosts", vhost), body: {}, what: `create the virtual host ${vhost}` }];
  const changes = [
    ...hostChanges,
    ...withdrawals(state, wanted, vhost),
    ...exchanges(state, wanted),
    ...policies(state, wanted, vhost),
    ...wanted.users.flatMap((user) => userChanges(state, user, passwords.get(user.name) ?? "")),
    ...topicPermissions(state, wanted, vhost),
    ...permissions(state, wanted, vhost),
  ];
  return { changes, faults };
}

function userFaults({ actor, users }: BrokerState, wanted: BrokerDefinitions): string[] {
  const names = new Set(wanted.users.map(({ name }) => name));
  const rulers = users.filter(
    ({ name, tags }) => names.has(name) && (name === actor || tags.includes("administrator")),
  );
  return rulers.map(
    ({ name }) =>
      `the user "${name}" of the policy is an administrator at the broker. Give the policy's user another name`,
  );
}

function exchangeFaults(state: BrokerState, wanted: BrokerDefinitions): string[] {
  return wanted.exchanges.flatMap(({ name, ...expected }) => {
    const found = state.exchanges.find((exchange) => exchange.name === name);
    if (found === undefined) return [];
    const differing = Object.entries(expected).filter(
      ([key, value]) => !isDeepStrictEqual(found[key as keyof typeof expected], value),
    );
    if (differing.length === 0) return [];
    return [
      `the exchange "${name}" is there with another ${differing.map(([key]) => key).join(", ")}. Delete it: RockBot's services then need a moment`,
    ];
  });
}

function withdrawals(
  { users, permissions: has, topicPermissions: hasTopics }: BrokerState,
  wanted: BrokerDefinitions,
  vhost: string,
): Change[] {
  const kept = new Set(wanted.users.map(({ name }) => name));
  const rights = [...has, ...hasTopics];
  return users.flatMap(({ name, tags }): Change[] => {
    const hosts = new Set(rights.filter(({ user }) => user === name).map((right) => right.vhost));
    if (kept.has(name) || !tags.includes(OWNED_TAG) || tags.includes("administrator") || !hosts.has(vhost)) return [];
    if (hosts.size === 1)
      return [
        {
          method: "DELETE",
          path: path("users", name),
          what: `delete the user ${name}, which the policy no longer names`,
        },
      ];
    return [
      {
        method: "DELETE",
        path: path("permissions", vhost, name),
        what: `take the permissions of ${name}, which the policy no longer names`,
      },
      { method: "DELETE", path: path("topic-permissions", vhost, name), what: `forget the topics of ${name}` },
    ];
  });
}

/** As an import, which needs no permissions in the virtual host. */
function exchanges(state: BrokerState, wanted: BrokerDefinitions): Change[] {
  const missing = wanted.exchanges.filter(({ name }) => !state.exchanges.some((exchange) => exchange.name === name));
  return missing.map((exchange) => ({
    method: "POST",
    path: "definitions",
    body: { exchanges: [exchange] },
    what: `declare the exchange ${exchange.name}`,
  }));
}

function policies(state: BrokerState, wanted: BrokerDefinitions, vhost: string): Change[] {
  const fields = ["pattern", "apply-to", "priority", "definition"] as const;
  return wanted.policies.flatMap((policy): Change[] => {
    const found = state.policies.find(({ name }) => name === policy.name);
    if (found !== undefined && fields.every((field) => isDeepStrictEqual(found[field], policy[field]))) return [];
    const { name, vhost: _vhost, ...body } = policy;
    return [{ method: "PUT", path: path("policies", vhost, name), body, what: `set the bounds ${name}` }];
  });
}

function userChanges({ users }: BrokerState, { name, tags, limits, ...hash }: DefinedUser, password: string): Change[] {
  const found = users.find((user) => user.name === name);
  const hasPassword = found !== undefined && isHashOf(password, found);
  const hasTags = found !== undefined && isDeepStrictEqual([...found.tags].sort(), [...tags].sort());
  const verb = found === undefined ? "create the user" : `set the ${hasPassword ? "tags" : "password"} of`;
  const missing = Object.entries(limits).filter(([limit, value]) => found?.limits?.[limit] !== value);
  return [
    ...(hasPassword && hasTags
      ? []
      : [
          {
            method: "PUT" as const,
            path: path("users", name),
            body: { ...hash, tags: tags.join(",") },
            what: `${verb} ${name}`,
          },
        ]),
    ...missing.map(([limit, value]) => ({
      method: "PUT" as const,
      path: path("user-limits", name, limit),
      body: { value },
      what: `set the limit ${limit} of ${name}`,
    })),
  ];
}

/** Permissions at other exchanges stay: ours name their exchange. */
function topicPermissions({ topicPermissions: has }: BrokerState, wanted: BrokerDefinitions, vhost: string): Change[] {
  return wanted.topic_permissions.flatMap(({ user, exchange, write, read }): Change[] => {
    const found = has.find((right) => right.user === user && right.vhost === vhost && right.exchange === exchange);
    if (found?.write === write && found.read === read) return [];
    return [
      {
        method: "PUT",
        path: path("topic-permissions", vhost, user),
        body: { exchange, write, read },
        what: `set the topics of ${user} at ${exchange}`,
      },
    ];
  });
}

function permissions({ permissions: has }: BrokerState, wanted: BrokerDefinitions, vhost: string): Change[] {
  return wanted.permissions.flatMap(({ user, configure, write, read }): Change[] => {
    const found = has.find((right) => right.user === user && right.vhost === vhost);
    if (found?.configure === configure && found.write === write && found.read === read) return [];
    return [
      {
        method: "PUT",
        path: path("permissions", vhost, user),
        body: { configure, write, read },
        what: `set the permissions of ${user}`,
      },
    ];
  });
}
