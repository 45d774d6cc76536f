import { randomBytes } from "node:crypto";
import { kubernetesTool } from "../machine/kubernetes-tools.ts";
import { run } from "../machine/run.ts";
import { temporaryFolder } from "../machine/temporary-folder.ts";
import { MANAGER_ACCOUNT, SCRIPT_ACCOUNT, scriptsManifests } from "./chart.ts";
import type { ClusterConnection } from "./cluster-connection.ts";
import { type KubernetesApi, type StartKubernetesApiOptions, startKubernetesApi } from "./start-kubernetes-api.ts";
import type { Pod } from "./store/objects.ts";

/**
 * The variable that names a kubeconfig of a cluster that tests may use. It asks for somebody who may make namespaces.
 */
const KUBECONFIG = "ROCKBOT_TEST_KUBECONFIG";
/** How long a token is good for: longer than the tests. */
const TOKEN_S = 3_600;
const KUBECTL_MS = 60_000;

/** A cluster with a namespace for scripts, as the chart makes it. Disposal removes what was made. */
export interface TestCluster extends AsyncDisposable {
  readonly namespace: string;
  /** Somebody with the manager's rights. */
  readonly manager: ClusterConnection;
  /** What the chart has the manager name in its pods, but the class of priorities, which is of all namespaces. */
  readonly podNames: { readonly serviceAccountName: string };
  /** Lists the pods of the namespace, finished or not. */
  pods(): Promise<readonly Pod[]>;
  /** What the only container of a pod has written; nothing, where there is none yet or any more. */
  logOf(pod: Pod): Promise<string>;
  /** Undefined on a real cluster: what needs it is to be skipped there. */
  readonly api: KubernetesApi | undefined;
}

/** Why a test that brings about faults, or reads what the server has noted, cannot run; undefined if it can. */
export function whyNoFaults(): string | undefined {
  return realKubeconfig() === undefined
    ? undefined
    : `${KUBECONFIG} names a real cluster, which has no faults on demand`;
}

/**
 * The cluster that ROCKBOT_TEST_KUBECONFIG names, with a new namespace; or else a new API server of our own, as the
 * options say.
 */
export async function testCluster(options: StartKubernetesApiOptions = {}): Promise<TestCluster> {
  const kubeconfig = realKubeconfig();
  if (kubeconfig !== undefined) return await prepareCluster(kubeconfig);
  const api = await startKubernetesApi(options);
  return {
    namespace: "rockbot-scripts",
    manager: api.connection,
    podNames: { serviceAccountName: SCRIPT_ACCOUNT },
    pods: async () => api.pods(),
    logOf: async (pod) => logIn(api, pod),
    api,
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

/** What the only container of a pod has written so far. */
export const logIn = ({ node }: KubernetesApi, pod: Pod): string => String(node.container(pod)?.log.read() ?? "");

function realKubeconfig(): string | undefined {
  const file = process.env[KUBECONFIG];
  return file === undefined || file === "" ? undefined : file;
}

/** @throws {Error} that says what kubectl says */
async function prepareCluster(kubeconfig: string): Promise<TestCluster> {
  const tool = await kubernetesTool("kubectl");
  if ("why" in tool) throw new Error(`Cannot use the cluster of ${KUBECONFIG}: ${tool.why}`);
  const kubectl = (...args: readonly string[]): Promise<string> =>
    run(tool.program, ["--kubeconfig", kubeconfig, ...args], { timeoutMs: KUBECTL_MS });
  using folder = temporaryFolder();
  const namespace = `rockbot-test-${randomBytes(6).toString("hex")}`;
  for (const item of scriptsManifests(namespace, namespace)) // the manager's account lies in the same namespace
    await kubectl("create", "--validate=false", "--filename", folder.write("manifest.json", item));
  await kubectl("wait", "--for=create", "--timeout=30s", "--namespace", namespace, "serviceaccount/default"); // a controller makes it
  const asked = folder.write("token.json", {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: TOKEN_S },
  });
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${MANAGER_ACCOUNT}/token`;
  const { status } = JSON.parse(await kubectl("create", "--raw", path, "--filename", asked)) as {
    readonly status: { readonly token: string };
  };
  const view = JSON.parse(await kubectl("config", "view", "--raw", "--minify", "--flatten", "--output", "json")) as {
    readonly clusters: readonly [
      { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } },
    ];
  };
  const { server, "certificate-authority-data": authority } = view.clusters[0].cluster;
  return {
    namespace,
    manager: { server, certificate: Buffer.from(authority, "base64").toString(), token: status.token },
    podNames: { serviceAccountName: SCRIPT_ACCOUNT },
    async pods() {
      const { items } = JSON.parse(await kubectl("get", "pods", "--namespace", namespace, "--output", "json")) as {
        readonly items: readonly Pod[];
      };
      return items;
    },
    logOf: ({ metadata }) => kubectl("logs", "--namespace", namespace, metadata.name).catch(() => ""),
    api: undefined,
    async [Symbol.asyncDispose]() {
      await kubectl("delete", "namespace", namespace, "--wait=false");
    },
  };
}
