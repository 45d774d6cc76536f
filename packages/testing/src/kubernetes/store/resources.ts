/** A kind of object that the server keeps. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly subresources?: readonly string[];
}

export const resources: readonly Resource[] = [
  {
    group: "",
    version: "v1",
    name: "namespaces",
    singular: "namespace",
    kind: "Namespace",
    isNamespaced: false,
    shortNames: ["ns"],
  },
  {
    group: "",
    version: "v1",
    name: "pods",
    singular: "pod",
    kind: "Pod",
    isNamespaced: true,
    shortNames: ["po"],
    subresources: ["attach", "ephemeralcontainers", "exec", "log", "portforward", "status"],
  },
  {
    group: "",
    version: "v1",
    name: "serviceaccounts",
    singular: "serviceaccount",
    kind: "ServiceAccount",
    isNamespaced: true,
    shortNames: ["sa"],
    subresources: ["token"],
  },
  { group: "", version: "v1", name: "secrets", singular: "secret", kind: "Secret", isNamespaced: true },
  {
    group: "",
    version: "v1",
    name: "configmaps",
    singular: "configmap",
    kind: "ConfigMap",
    isNamespaced: true,
    shortNames: ["cm"],
  },
  {
    group: "",
    version: "v1",
    name: "resourcequotas",
    singular: "resourcequota",
    kind: "ResourceQuota",
    isNamespaced: true,
    shortNames: ["quota"],
  },
  {
    group: "",
    version: "v1",
    name: "limitranges",
    singular: "limitrange",
    kind: "LimitRange",
    isNamespaced: true,
    shortNames: ["limits"],
  },
  {
    group: "",
    version: "v1",
    name: "persistentvolumeclaims",
    singular: "persistentvolumeclaim",
    kind: "PersistentVolumeClaim",
    isNamespaced: true,
    shortNames: ["pvc"],
  },
  { group: "", version: "v1", name: "nodes", singular: "node", kind: "Node", isNamespaced: false, shortNames: ["no"] },
  {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    name: "roles",
    singular: "role",
    kind: "Role",
    isNamespaced: true,
  },
  {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    name: "rolebindings",
    singular: "rolebinding",
    kind: "RoleBinding",
    isNamespaced: true,
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    name: "networkpolicies",
    singular: "networkpolicy",
    kind: "NetworkPolicy",
    isNamespaced: true,
    shortNames: ["netpol"],
  },
  {
    group: "scheduling.k8s.io",
    version: "v1",
    name: "priorityclasses",
    singular: "priorityclass",
    kind: "PriorityClass",
    isNamespaced: false,
  },
  {
    group: "node.k8s.io",
    version: "v1",
    name: "runtimeclasses",
    singular: "runtimeclass",
    kind: "RuntimeClass",
    isNamespaced: false,
  },
];

export const resourceNamed = (group: string, name: string): Resource | undefined =>
  resources.find((resource) => resource.group === group && resource.name === name);

/** @throws {Error} for a kind that the server does not keep */
export function resourceOfKind(apiVersion: string, kind: string): Resource {
  const found = resources.find((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);
  if (found === undefined)
    throw new Error(
      `Cannot keep a ${kind} of ${apiVersion}: the test API server knows ${resources.map((one) => one.kind).join(", ")}`,
    );
  return found;
}

export const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`);
