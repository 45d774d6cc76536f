import type { StartKubernetesApiOptions } from "@rockbot/testing";

export const NAMESPACE = "rockbot-scripts";
export const MANAGER = { namespace: "rockbot", name: "scripts-manager" };

type Manifests = NonNullable<StartKubernetesApiOptions["manifests"]>;

/** What a cluster has for scripts: a namespace that admits restricted pods only, no network in it, and a manager with the rights that it needs. */
export const scriptsNamespace = [
  { kind: "Namespace", metadata: { name: NAMESPACE, labels: { "pod-security.kubernetes.io/enforce": "restricted" } } },
  { kind: "NetworkPolicy", metadata: { name: "deny-all", namespace: NAMESPACE }, spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] } },
  {
    kind: "Role",
    metadata: { name: "scripts-manager", namespace: NAMESPACE },
    rules: [
      { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "watch", "patch", "delete"] },
      { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
      { apiGroups: [""], resources: ["pods/attach"], verbs: ["get", "create"] },
    ],
  },
  {
    kind: "RoleBinding",
    metadata: { name: "scripts-manager", namespace: NAMESPACE },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "scripts-manager" },
    subjects: [{ kind: "ServiceAccount", ...MANAGER }],
  },
].map((manifest) => ({ apiVersion: apiVersionOf(manifest.kind), ...manifest })) as unknown as Manifests;

function apiVersionOf(kind: string): string {
  if (kind === "NetworkPolicy") return "networking.k8s.io/v1";
  return kind.startsWith("Role") ? "rbac.authorization.k8s.io/v1" : "v1";
}
