import { type KubeObject, renderChart } from "@rockbot/testing";
import { expect, test } from "vitest";
import { Cluster, neededTool, uniqueName } from "./cluster.ts";

const ZONES = ["a", "a", "b", "c"];
const ZONE = "topology.kubernetes.io/zone";
const OWN = "rockbot.dev/test-node";

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: { readonly nodeName?: string };
  }[];
}

test("the scheduler spreads each service, the broker and Redis over zones, and over the nodes of a zone", async () => {
  const cluster = await Cluster.open();
  await using namespace = await cluster.namespace("spread");
  await using nodes = await ownNodes(cluster);
  const here = { nodeSelector: { [OWN]: nodes.group }, tolerations: [{ key: OWN, operator: "Exists" }] };
  const values = {
    defaults: { ...here, replicas: 4 },
    broker: { ...here, replicas: 3 },
    redis: { ...here, kind: "sentinel" },
    priorityClasses: { create: false },
  };
  const rendered = await renderChart(await neededTool("helm"), [], values, { namespace: namespace.name });
  const wanted = ["ServiceAccount", "Deployment", "StatefulSet"];
  await cluster.apply(
    ...rendered
      .filter(({ kind, metadata }) => wanted.includes(kind ?? "") && metadata.namespace === namespace.name)
      .map(withoutClaims),
  );

  const placed = async () => {
    const pods = await cluster.json<PodList>([
      "--namespace",
      namespace.name,
      "get",
      "pods",
      "--selector",
      "app.kubernetes.io/part-of=rockbot",
    ]);
    const byService = new Map<string, string[]>();
    for (const { metadata, spec } of pods.items) {
      const name = metadata.labels["app.kubernetes.io/name"] ?? "";
      byService.set(name, [...(byService.get(name) ?? []), spec.nodeName ?? "nowhere"]);
    }
    return Object.fromEntries(
      [...byService].map(([name, places]) => [
        name,
        places
          .map((place) => nodes.zones.get(place) ?? place)
          .sort()
          .join(""),
      ]),
    );
  };
  const spread = ["aabc", "abbc", "abcc"]; // four over three zones, no zone two ahead
  const services = ["web-tools", "mcp-bridge", "scripts-manager", "scheduler", "gateway"];
  await expect
    .poll(async () => {
      const found = await placed();
      return services.filter((name) => !spread.includes(found[name] ?? "")).map((name) => `${name}: ${found[name]}`);
    })
    .toEqual([]);
  const { broker, redis } = await placed();
  expect({ broker, redis }).toEqual({ broker: "abc", redis: "abc" });
});

type StatefulSet = KubeObject & {
  readonly spec: { readonly template: { readonly spec: { readonly volumes: readonly object[] } } };
};

/** The object with its data in its pods: the scheduler places no pod whose claims nobody fulfils. */
function withoutClaims(object: KubeObject): KubeObject {
  if (object.kind !== "StatefulSet") return object;
  const { spec } = object as StatefulSet;
  const volumes = [...spec.template.spec.volumes, { name: "data", emptyDir: {} }];
  return {
    ...object,
    spec: {
      ...spec,
      volumeClaimTemplates: [],
      template: { ...spec.template, spec: { ...spec.template.spec, volumes } },
    },
  } as StatefulSet;
}

/**
 * Nodes in three zones, on which nothing runs: the scheduler knows them by their objects. No other pods come to them.
 */
async function ownNodes(cluster: Cluster) {
  const group = uniqueName("spread");
  const names = ZONES.map((_, index) => `${group}-${index}`);
  const zones = new Map(names.map((name, index) => [name, ZONES[index] as string]));
  const amounts = { cpu: "64", memory: "256Gi", pods: "100", "ephemeral-storage": "500Gi" };
  const status = {
    allocatable: amounts,
    capacity: amounts,
    conditions: [{ type: "Ready", status: "True", reason: "Test", message: "is ready" }],
  };
  const remove = async (): Promise<void> =>
    void (await cluster.kubectl(["delete", "nodes", "--selector", `${OWN}=${group}`, "--wait=false"]));
  await cluster.apply(
    ...names.map((name): KubeObject & Readonly<Record<string, unknown>> => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { [OWN]: group, [ZONE]: zones.get(name) as string, "kubernetes.io/hostname": name } },
      spec: { taints: [{ key: OWN, value: group, effect: "NoSchedule" }] },
    })),
  );
  for (const name of names)
    await cluster.kubectl([
      "patch",
      "node",
      name,
      "--subresource=status",
      "--type=merge",
      "--patch",
      JSON.stringify({ status }),
    ]);
  return { group, zones, [Symbol.asyncDispose]: remove };
}
