import { dirname, join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost } from "@rockbot/testing";
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
});

const command = (cluster: ScriptsCluster, busUrl: string, ...args: string[]) =>
  startProgram("packages/cli/src/main.ts", {
    args,
    env: { ...settings(cluster, busUrl), ROCKBOT_RUNTIME_DIR: join(dirname(cluster.kubeconfigFile), "run") },
  });

describe.skipIf(noCluster.isSo)(`scripts-manager with a cluster${noCluster.words}`, { timeout: 180_000 }, () => {
  test("runs scripts in pods, once it has seen that they reach neither the API server nor the broker", async () => {
    await using broker = await ownVirtualHost();
    await using cluster = await openScriptsCluster();
    await using manager = await startService("scripts-manager", settings(cluster, broker.url));
    await using bus = await connectBus(broker.url, { name: "scripts-in-cluster", drainMs: 1_000 });
    await using caller = await createToolCaller(bus, { agent: "scripts-in-cluster" });
    await caller.discovered();
    const { content } = await caller.call("execute_python_script", { script: "print(6 * 7)" }, { timeoutMs: 60_000 });

    await using doctor = command(cluster, broker.url, "doctor");
    await doctor.ended;

    expect(content).toBe("42\n");
    expect(manager.stdout()).toMatch(/"the API server":"blocked","the broker":"blocked"/);
    expect(doctor.stdout()).toMatch(
      /^ok +scripts +Python .* in a sandbox \(kubernetes\), without network; the API server blocked; the broker blocked/m,
    );
  });

  test("is not offered by a command either where scripts are seen to reach the API server", async () => {
    await using cluster = await openScriptsCluster({ enforcesNetworkPolicies: false });
    await using call = command(cluster, "memory:", "call", "execute_python_script", '{"script":"print(1)"}');
    await using doctor = command(cluster, "memory:", "doctor");

    expect(await call.ended).not.toBe(0);
    expect(call.stdout() + call.stderr()).toMatch(/it is off\. No scripts are run: a script reaches the API server/);
    await doctor.ended;
    expect(doctor.stdout()).toMatch(
      /^broken +scripts +there is no execute_python_script\. No scripts are run: a script reaches the API server/m,
    );
  });

  test.skipIf(noOwnCluster.isSo)(
    `refuses to start where a policy is a text that nothing enforces${noOwnCluster.words}`,
    async () => {
      await using broker = await ownVirtualHost();
      await using cluster = await openScriptsCluster({ enforcesNetworkPolicies: false });
      await using manager = startProgram("services/main.ts", {
        args: ["scripts-manager"],
        env: settings(cluster, broker.url),
      });

      expect(await manager.ended).not.toBe(0);
      expect(manager.stdout() + manager.stderr()).toMatch(
        /No scripts are run: a script reaches the API server, the broker.*NetworkPolicy/,
      );
    },
  );
});
