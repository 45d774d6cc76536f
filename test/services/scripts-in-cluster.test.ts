import { connectBus } from "@rockbot/bus-rabbitmq";
import { startOwnBroker } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { describe, expect, test } from "vitest";
import { noCluster, noOwnCluster, openScriptsCluster, type ScriptsCluster } from "../scripts/scripts-cluster.ts";
import { startProgram, startService } from "./start-service.ts";

const settings = ({ kubeconfigFile, namespace, podNames }: ScriptsCluster, busUrl: string) => ({
  BUS_URL: busUrl,
  RUNNER: "kubernetes",
  KUBECONFIG_FILE: kubeconfigFile,
  KUBERNETES_NAMESPACE: namespace,
  KUBERNETES_SERVICE_ACCOUNT: podNames.serviceAccountName,
  ...(podNames.priorityClassName === undefined ? {} : { KUBERNETES_PRIORITY_CLASS: podNames.priorityClassName }),
});

describe.skipIf(noCluster.isSo)(`scripts-manager with a cluster${noCluster.words}`, { timeout: 180_000 }, () => {
  test("runs scripts in pods, once it has seen that they reach neither the API server nor the broker", async () => {
    await using broker = await startOwnBroker();
    await using cluster = await openScriptsCluster();
    await using manager = await startService("scripts-manager", settings(cluster, broker.url));
    await using bus = await connectBus(broker.url, { name: "scripts-in-cluster", drainMs: 1_000 });
    await using caller = await createToolCaller(bus, { agent: "scripts-in-cluster" });
    await caller.discovered();
    const { content } = await caller.call("execute_python_script", { script: "print(6 * 7)" }, { timeoutMs: 60_000 });

    expect(content).toBe("42\n");
    expect(manager.stdout()).toMatch(/"the API server":"blocked","the broker":"blocked"/);
  });

  test.skipIf(noOwnCluster.isSo)(`refuses to start where a policy is a text that nothing enforces${noOwnCluster.words}`, async () => {
    await using broker = await startOwnBroker();
    await using cluster = await openScriptsCluster({ enforcesNetworkPolicies: false });
    await using manager = startProgram("services/scripts-manager/src/main.ts", { env: settings(cluster, broker.url) });

    expect(await manager.ended).not.toBe(0);
    expect(manager.stdout() + manager.stderr()).toMatch(/No scripts are run: a script reaches the API server, the broker.*NetworkPolicy/);
  });
});
