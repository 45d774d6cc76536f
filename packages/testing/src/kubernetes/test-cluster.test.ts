import { CoreV1Api, KubeConfig, type V1Pod } from "@kubernetes/client-node";
import { afterEach, describe, expect, test, vi } from "vitest";
import { kubernetesTool } from "../machine/kubernetes-tools.ts";
import { temporaryFolder } from "../machine/temporary-folder.ts";
import { kubeconfigOf, writeKubeconfig } from "./cluster-connection.ts";
import { startKubernetesApi } from "./start-kubernetes-api.ts";
import { type TestCluster, testCluster, whyNoFaults } from "./test-cluster.ts";
import { testPod } from "./test-pod.ts";

afterEach(() => vi.unstubAllEnvs());

/** The status of making a pod as the manager, in its namespace or another. */
async function createPod({ manager, namespace }: TestCluster, where = namespace): Promise<number> {
  const config = new KubeConfig();
  config.loadFromString(kubeconfigOf(manager));
  return await config
    .makeApiClient(CoreV1Api)
    .createNamespacedPod({ namespace: where, body: testPod("one") as unknown as V1Pod })
    .then(
      () => 201,
      (error: { readonly code: number }) => error.code,
    );
}

test("a cluster of our own comes with the chart's namespace and the manager's rights", async () => {
  vi.stubEnv("ROCKBOT_TEST_KUBECONFIG", "");
  await using cluster = await testCluster({ nodes: [] });

  expect(whyNoFaults()).toBeUndefined();
  expect(await createPod(cluster)).toBe(201);
  expect(await createPod(cluster, "default")).toBe(403);
});

const tool = await kubernetesTool("kubectl");

describe.skipIf("why" in tool)(`a cluster that is given${"why" in tool ? ` (skipped: ${tool.why})` : ""}`, () => {
  test("is used through a namespace of its own with the manager's rights, which goes with it", async () => {
    await using api = await startKubernetesApi({ nodes: [] });
    using folder = temporaryFolder();
    const file = folder.write("config", "");
    writeKubeconfig(file, api.admin);
    vi.stubEnv("ROCKBOT_TEST_KUBECONFIG", file);
    {
      await using cluster = await testCluster();
      expect(cluster.namespace).toMatch(/^rockbot-test-[0-9a-f]{12}$/);
      expect(cluster.api).toBeUndefined();
      expect(whyNoFaults()).toContain("ROCKBOT_TEST_KUBECONFIG");
      expect(await createPod(cluster)).toBe(201);
      expect(await createPod(cluster, "default")).toBe(403);
      expect((await cluster.pods()).map(({ metadata }) => metadata.name)).toEqual(["one"]);
    }
    expect(api.list("namespaces").map(({ metadata }) => metadata.name)).toEqual(["default"]);
  });
});
