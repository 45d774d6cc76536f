import type { ObjectStore } from "./store/object-store.ts";
import type { KubeObject } from "./store/objects.ts";

/** One thing that somebody wants to do. */
export interface Act {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** What a member of this group may is not asked, as on a real cluster. */
const MASTERS = "system:masters";

/** Such as `get pods/log`. */
export const rightNameOf = ({ verb, resource, subresource }: Act): string =>
  `${verb} ${subresource === "" ? resource : `${resource}/${subresource}`}`;

/** Somebody who is known by a bearer token. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/**
 * Whether the Roles that are bound to a user in the act's namespace allow it. Nothing is allowed across namespaces but
 * to `system:masters`.
 */
export function isAllowed(store: ObjectStore, user: User, act: Act): boolean {
  if (user.groups.includes(MASTERS)) return true;
  if (act.namespace === undefined) return false;
  return rulesFor(store, user, act.namespace).some((rule) => allows(rule, act));
}

/** Such as `get pods/log`, sorted: what a user may do in a namespace. */
export function rightsOf(store: ObjectStore, user: User, namespace: string): readonly string[] {
  const rights = rulesFor(store, user, namespace).flatMap(({ verbs, resources = [] }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
  return [...new Set(rights)].sort();
}

function rulesFor(store: ObjectStore, user: User, namespace: string): readonly Rule[] {
  const bindings = store.list("rolebindings", namespace) as (KubeObject & {
    readonly roleRef: { readonly name: string };
    readonly subjects?: readonly Subject[];
  })[];
  return bindings
    .filter(({ subjects = [] }) => subjects.some((subject) => isUser(subject, user, namespace)))
    .flatMap(
      ({ roleRef }) =>
        (
          store.find("roles", namespace, roleRef.name) as
            | (KubeObject & { readonly rules?: readonly Rule[] })
            | undefined
        )?.rules ?? [],
    );
}

function isUser(subject: Subject, user: User, namespace: string): boolean {
  if (subject.kind === "ServiceAccount")
    return user.name === serviceAccountUser(subject.namespace ?? namespace, subject.name);
  return subject.kind === "Group" ? user.groups.includes(subject.name) : user.name === subject.name;
}

export const serviceAccountUser = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;

function allows(
  { apiGroups = [], resources = [], resourceNames = [], verbs }: Rule,
  { verb, group, resource, subresource, name }: Act,
): boolean {
  const wanted = subresource === "" ? resource : `${resource}/${subresource}`;
  return (
    has(verbs, verb) &&
    has(apiGroups, group) &&
    (has(resources, wanted) || (subresource !== "" && resources.includes(`*/${subresource}`))) &&
    (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)))
  );
}

const has = (list: readonly string[], value: string): boolean => list.includes(value) || list.includes("*");
