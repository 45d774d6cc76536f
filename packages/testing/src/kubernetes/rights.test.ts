import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { MANAGER_ACCOUNT, RELEASE_NAMESPACE, scriptsManifests } from "./chart.ts";
import { type ClusterConnection, kubeconfigOf } from "./cluster-connection.ts";
import { startKubernetesApi } from "./start-kubernetes-api.ts";

const NAMESPACE = "rockbot-scripts";
const MANAGER = { namespace: RELEASE_NAMESPACE, name: MANAGER_ACCOUNT };

function clientOf(connection: ClusterConnection): CoreV1Api {
  const config = new KubeConfig();
  config.loadFromString(kubeconfigOf(connection));
  return config.makeApiClient(CoreV1Api);
}

/** The status of a request by itself, without a client library. */
async function statusOf(
  { server, certificate, token }: ClusterConnection,
  method: string,
  path: string,
): Promise<number | undefined> {
  const { request } = await import("node:https");
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server}${path}`,
      { method, ca: certificate, headers: { authorization: `Bearer ${token}` } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on("error", reject).end();
  });
}

test("the chart's Role gives the manager what it names and nothing else", async () => {
  await using api = await startKubernetesApi({ manifests: scriptsManifests(NAMESPACE) });
  const connection = api.connectionFor(MANAGER);
  const pods = `/api/v1/namespaces/${NAMESPACE}/pods`;

  expect(api.grantedRights(connection.user, NAMESPACE)).toEqual([
    "create pods",
    "create pods/attach",
    "delete pods",
    "get pods",
    "get pods/attach",
    "get pods/log",
    "list pods",
    "patch pods",
    "watch pods",
  ]);
  const refused = [
    ["POST", `${pods}/one/exec`],
    ["GET", `${pods}/one/exec`],
    ["POST", `${pods}/one/portforward`],
    ["PATCH", `${pods}/one/ephemeralcontainers`],
    ["PATCH", `${pods}/one/status`],
    ["PUT", `${pods}/one`],
    ["DELETE", pods],
    ["GET", "/api/v1/pods"],
    ["GET", "/api/v1/namespaces"],
    ["GET", "/api/v1/nodes"],
    ["GET", `/api/v1/namespaces/${NAMESPACE}/secrets`],
    ["GET", `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`],
    ["GET", `/api/v1/namespaces/${RELEASE_NAMESPACE}/pods`],
    ["POST", `/api/v1/namespaces/${RELEASE_NAMESPACE}/pods`],
    ["GET", `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`],
    ["GET", `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`],
  ] as const;
  for (const [method, path] of refused)
    expect([method, path, await statusOf(connection, method, path)]).toEqual([method, path, 403]);
  expect(await statusOf(connection, "GET", pods)).toBe(200);
  expect(await statusOf(connection, "GET", `${pods}?watch=1&timeoutSeconds=1`)).toBe(200);
  expect(api.usedRights(connection.user)).toEqual(["list pods", "watch pods"]);
});

test("the account of scripts may do nothing", async () => {
  await using api = await startKubernetesApi({ manifests: scriptsManifests(NAMESPACE) });
  const connection = api.connectionFor({ namespace: NAMESPACE, name: "rockbot-script" });

  expect(api.grantedRights(connection.user, NAMESPACE)).toEqual([]);
  await expect(clientOf(connection).listNamespacedPod({ namespace: NAMESPACE })).rejects.toMatchObject({ code: 403 });
  expect(api.requests).toMatchObject([
    { verb: "list", resource: "pods", namespace: NAMESPACE, user: connection.user, status: 403 },
  ]);
});

test("nobody is let in without a token, or without trust in the server's certificate", async () => {
  await using api = await startKubernetesApi();
  await expect(
    clientOf({ ...api.admin, token: "guessed" }).listNamespacedPod({ namespace: "default" }),
  ).rejects.toMatchObject({ code: 401 });

  const config = new KubeConfig();
  const { clusters, ...rest } = JSON.parse(kubeconfigOf(api.admin)) as { readonly clusters: readonly object[] };
  config.loadFromString(JSON.stringify({ ...rest, clusters: [{ ...clusters[0], cluster: { server: api.url } }] }));
  await expect(config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace: "default" })).rejects.toThrow();
});
