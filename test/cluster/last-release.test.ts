import { join } from "node:path";
import { gatewayClient, temporaryFolder } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { services } from "../deployment/services.ts";
import { cloneAt, LAST_RELEASE, lacksLastRelease } from "../last-release.ts";
import { Cluster } from "./cluster.ts";
import { type HelmRelease, installRelease, testImages } from "./helm-release.ts";
import { ownVolumes } from "./own-volumes.ts";

const cluster = await Cluster.open();
/** The images of the last release: the same names under this tag. */
const lastTag = process.env["ROCKBOT_TEST_LAST_IMAGE_TAG"] ?? "";
const why =
  lacksLastRelease ?? (lastTag === "" ? "skipped: ROCKBOT_TEST_LAST_IMAGE_TAG names no tag of its images" : undefined);
const used = ["scheduler", "gateway"];

const valuesOf = (tag: string, more: object = {}) => ({
  ...Object.fromEntries(
    services.map(({ name, key }) => [
      key,
      { enabled: used.includes(name), ...(used.includes(name) ? { image: { ...testImages.of(name), tag } } : {}) },
    ]),
  ),
  rights: {
    image: { ...testImages.of("cli"), tag },
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
  },
  tests: { enabled: false },
  ...more,
});
const newTag = testImages.of("cli").tag;

/** Calls through the gateway of a release, whose pods and token may be others at each call. */
async function call(namespace: string, release: HelmRelease, tool: string, args: object): Promise<unknown> {
  await using port = await cluster.forward(namespace, `service/${release.name}-gateway`, 8480);
  const { "gateway.GATEWAY_TOKEN": token } = await cluster.secret(namespace, `${release.name}-credentials`);
  return (await gatewayClient(`http://127.0.0.1:${port.port}`, token).call(tool, args)).body;
}

const tasksOf = async (namespace: string, release: HelmRelease): Promise<unknown> => {
  const listed = (await call(namespace, release, "list_scheduled_tasks", {}).catch((error: Error) => error)) as {
    readonly structured?: { readonly tasks: readonly { name: string }[] };
  };
  return listed.structured?.tasks.map(({ name }) => name).sort();
};
const schedule = (namespace: string, release: HelmRelease, name: string) =>
  call(namespace, release, "schedule_task", { name, cron: "0 0 1 1 *", description: "Nothing." });

describe.skipIf(why !== undefined)(
  `a release of the chart of ${LAST_RELEASE}${why === undefined ? "" : ` (${why})`}`,
  () => {
    test("keeps its tasks over an upgrade, the loss of Redis's pod and a roll-back, and is not begun to be upgraded to a policy with a fault", {
      timeout: 1_200_000,
    }, async () => {
      using folder = temporaryFolder();
      const chart = join(await cloneAt(join(folder.path, "last"), LAST_RELEASE), "helm/rockbot");
      await using volumes = await ownVolumes(cluster, 2);
      await using namespace = await cluster.namespace("last");
      const storage = { kind: "claim", className: volumes.className, size: volumes.size };
      const stores = { broker: { storage }, redis: { storage } };
      const kubectl = (...args: readonly string[]) =>
        cluster.kubectl(["--namespace", namespace.name, ...args], { timeoutMs: 190_000 });
      await using release = await installRelease(cluster, {
        namespace: namespace.name,
        chart,
        valuesFiles: ["values-dev.yaml"],
        values: valuesOf(lastTag, stores),
      });
      const tasks = () => tasksOf(namespace.name, release);
      for (const name of ["one", "three", "two"]) await schedule(namespace.name, release, name);
      await expect.poll(tasks).toEqual(["one", "three", "two"]);

      const rights = {
        image: testImages.of("cli"),
        resources: { requests: { cpu: "20m", memory: "64Mi" }, limits: { memory: "256Mi" } },
      };
      const values = valuesOf(newTag, { ...stores, rights }); // of a Job, these cannot be changed
      await release.upgrade({ valuesFiles: ["values-dev.yaml"], values });
      await expect.poll(tasks).toEqual(["one", "three", "two"]);
      await schedule(namespace.name, release, "four");
      await kubectl("delete", "pod", `${release.name}-redis-0`, "--grace-period=1");
      await kubectl("rollout", "status", `statefulset/${release.name}-redis`, "--timeout=180s");
      await expect.poll(tasks).toEqual(["four", "one", "three", "two"]);

      const inForce = await kubectl("get", "configmap", `${release.name}-policy`, "--output", "jsonpath={.data}");
      const faulty = { ...values, policy: { text: "callers: { someone: { alow: [] } }" } };
      await expect(release.upgrade({ valuesFiles: ["values-dev.yaml"], values: faulty })).rejects.toThrow(
        /pre-upgrade hooks failed/,
      );
      expect(await kubectl("get", "configmap", `${release.name}-policy`, "--output", "jsonpath={.data}")).toBe(inForce);
      expect(await kubectl("logs", `job/${release.name}-policy-check`)).toMatch(/alow/);

      // As docs/operate/upgrade.md says.
      const redis = (args: string) =>
        cluster.exec(namespace.name, `${release.name}-redis-0`, [
          "sh",
          "-c",
          `REDISCLI_AUTH=$(cat /etc/rockbot/own-passwords/reload) redis-cli ${args}`,
        ]);
      await redis("bgrewriteaof");
      await expect.poll(() => redis("info persistence")).toMatch(/aof_rewrite_in_progress:0.*aof_rewrite_scheduled:0/s);
      await release.helm(["rollback", release.name, "1", "--wait", "--timeout", "240s"], 260_000);
      await expect.poll(tasks).toEqual(["four", "one", "three", "two"]);
    });
  },
);

describe("a release whose data goes with its pods", () => {
  test("serves calls again after its broker's pod is lost, and one planned stop of Redis's master makes one failover", {
    timeout: 900_000,
  }, async () => {
    await using namespace = await cluster.namespace("lost");
    const kubectl = (...args: readonly string[]) =>
      cluster.kubectl(["--namespace", namespace.name, ...args], { timeoutMs: 190_000 });
    const values = valuesOf(newTag, { redis: { kind: "sentinel" } });
    await using release = await installRelease(cluster, {
      namespace: namespace.name,
      valuesFiles: ["values-dev.yaml"],
      values,
    });
    const tasks = () => tasksOf(namespace.name, release);
    await expect.poll(tasks).toEqual([]);

    await kubectl("delete", "pod", `${release.name}-broker-0`, "--grace-period=1");
    await expect.poll(tasks, { timeout: 300_000, interval: 2_000 }).toEqual([]);

    const switches = async () =>
      (await kubectl("logs", `${release.name}-redis-2`, "--container", "sentinel")).match(/[+]switch-master/g)
        ?.length ?? 0;
    expect(await switches()).toBe(0);
    await kubectl("delete", "pod", `${release.name}-redis-0`); // the first is the master at the start
    await kubectl("rollout", "status", `statefulset/${release.name}-redis`, "--timeout=180s");
    await expect.poll(tasks).toEqual([]);
    expect(await switches()).toBe(1);
  });
});
