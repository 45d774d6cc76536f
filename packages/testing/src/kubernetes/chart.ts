import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { run } from "../machine/run.ts";
import type { KubeObject } from "./store/objects.ts";

/** The repository's chart. */
export const CHART = join(rootAbove(import.meta.dirname), "helm/rockbot");
const RELEASE = "rockbot";
/** Where the tests' release is. */
export const RELEASE_NAMESPACE = "rockbot";
/** The service account of the manager, in RELEASE_NAMESPACE. */
export const MANAGER_ACCOUNT = `${RELEASE}-scripts-manager`;
/** The service account of scripts, in their namespace. */
export const SCRIPT_ACCOUNT = "rockbot-script";

function rootAbove(folder: string): string {
  return existsSync(join(folder, "pnpm-workspace.yaml")) ? folder : rootAbove(dirname(folder));
}

/** A file of the chart that is no template. */
const part = (name: string): unknown => parse(readFileSync(join(CHART, "files/scripts", name), "utf8"));

/** What the chart's Role gives the manager in the scripts' namespace, such as `get pods/log`, sorted. */
export function managerRights(): readonly string[] {
  const rules = part("manager-rules.yaml") as readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  const rights = rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((of) => verbs.map((verb) => `${verb} ${of}`)),
  );
  return [...new Set(rights)].sort();
}

/**
 * What the chart makes of the scripts' namespace, from those of its files that are no templates: what Pod Security, the
 * network and the manager's Role say there is the chart's own. A test with helm compares what helm renders.
 */
export function scriptsManifests(
  namespace = "rockbot-scripts",
  managerNamespace = RELEASE_NAMESPACE,
): readonly KubeObject[] {
  const role = { name: MANAGER_ACCOUNT, namespace };
  const manifests: (KubeObject & Readonly<Record<string, unknown>>)[] = [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace, labels: part("pod-security-labels.yaml") as Record<string, string> },
    },
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: SCRIPT_ACCOUNT, namespace },
      automountServiceAccountToken: false,
    },
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: MANAGER_ACCOUNT, namespace: managerNamespace },
      automountServiceAccountToken: false,
    },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: role, rules: part("manager-rules.yaml") },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: role,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: MANAGER_ACCOUNT },
      subjects: [{ kind: "ServiceAccount", name: MANAGER_ACCOUNT, namespace: managerNamespace }],
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "deny-all", namespace },
      spec: part("network-policy-spec.yaml"),
    },
  ];
  return manifests;
}

/**
 * All that helm makes of the chart.
 * @param args such as `--values FILE`
 * @param values beat what the files say
 * @param where the release's name and namespace, if they are to be others
 * @throws {Error} with what helm says is wrong with the values
 */
export async function renderChart(
  helm: string,
  args: readonly string[] = [],
  values: Readonly<Record<string, unknown>> = {},
  { release = RELEASE, namespace = RELEASE_NAMESPACE }: { readonly release?: string; readonly namespace?: string } = {},
): Promise<readonly KubeObject[]> {
  const drawn = ["--set", "credentials.drawWithoutCluster=true"]; // as an installation has them
  const options = ["--namespace", namespace, ...drawn, ...args, "--values", "-"];
  const text = await run(helm, ["template", release, CHART, ...options], {
    timeoutMs: 60_000,
    input: JSON.stringify(values),
  });
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);
}
