import { gatewayClient } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { whoTalks } from "../../scripts/deployment/who-talks.ts";
import { ANSWER, QUESTION, STEPS } from "../agent/story.ts";
import { REACH_PROGRAM, type Target } from "../deployment/reach-program.ts";
import { services } from "../deployment/services.ts";
import { Cluster, type ForwardedPort, type OwnNamespace, uniqueName } from "./cluster.ts";
import { type HelmRelease, installRelease, testImages } from "./helm-release.ts";
import { type StoryWorld, startStoryWorld } from "./story-world.ts";

const cluster = await Cluster.open();
const enabled = services.filter(({ name, values }) => values["enabled"] || name === "agent");
const scripts = uniqueName("dev-scripts");

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
    readonly status: {
      readonly phase: string;
      readonly podIP: string;
      readonly conditions: readonly { readonly type: string; readonly status: string }[];
    };
  }[];
}

describe("the whole system by values-dev.yaml, with an agent", () => {
  const made = new AsyncDisposableStack();
  let world: StoryWorld;
  let namespace: OwnNamespace;
  let release: HelmRelease;
  let gateway: ForwardedPort;

  beforeAll(async () => {
    world = made.use(await startStoryWorld(cluster));
    namespace = made.use(await cluster.namespace("dev", { "pod-security.kubernetes.io/enforce": "restricted" }));
    const images = Object.fromEntries(services.map(({ key, name }) => [key, { image: testImages.of(name) }]));
    release = made.use(
      await installRelease(cluster, {
        namespace: namespace.name,
        valuesFiles: ["values-dev.yaml"],
        values: {
          ...images,
          agent: { ...images["agent"], ...world.values.agent },
          webTools: { ...images["webTools"], ...world.values.webTools },
          rights: { image: testImages.of("cli") },
          scripts: { namespace: { name: scripts } },
        },
      }),
    );
    gateway = made.use(await cluster.forward(namespace.name, `service/${release.name}-gateway`, 8480));
  });
  afterAll(() => made.disposeAsync());

  const podsOf = async (): Promise<PodList["items"]> =>
    (await cluster.json<PodList>(["--namespace", namespace.name, "get", "pods"])).items;

  async function request(path: string, body?: object): Promise<unknown> {
    const { "gateway.GATEWAY_TOKEN": token } = await cluster.secret(namespace.name, `${release.name}-credentials`);
    const options = { headers: { "rockbot-session": "monday" }, ...(body === undefined ? {} : { body }) };
    return (await gatewayClient(`http://127.0.0.1:${gateway.port}`, token).request(path, options)).body;
  }

  test("every pod is ready, under the restricted profile", async () => {
    const pods = (await podsOf()).filter(({ status }) => status.phase !== "Succeeded");
    expect(pods.map(({ metadata }) => metadata.labels["app.kubernetes.io/name"]).sort()).toEqual(
      [...enabled.map(({ name }) => name), "broker", "redis"].sort(),
    );
    for (const { status } of pods)
      expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  });

  test("helm test calls a tool through the gateway", async () => {
    expect(await release.helm(["test", release.name, "--logs", "--timeout", "120s"], 150_000)).toMatch(/status 200/);
  });

  test("tools of the scheduler, of an MCP server and of scripts answer through the gateway", async () => {
    const names = async () =>
      ((await request("/v1/tools")) as { readonly tools: readonly { readonly name: string }[] }).tools.map(
        ({ name }) => name,
      );
    await expect
      .poll(names)
      .toEqual(
        expect.arrayContaining([
          "web_browse",
          "list_scheduled_tasks",
          "execute_python_script",
          "system-info__system_info",
        ]),
      );

    expect(await request("/v1/tools/execute_python_script/invoke", { script: "print(6 * 7)" })).toMatchObject({
      content: "42\n",
      isError: false,
    });
    expect(await request("/v1/tools/list_scheduled_tasks/invoke", {})).toMatchObject({ isError: false });
    expect(await request("/v1/tools/system-info__system_info/invoke", {})).toMatchObject({ isError: false });
  });

  test("the agent answers a question over HTTP after a search, a guide, a page in parts, a script in a pod and a schedule", async () => {
    const messages = [{ role: "user", content: QUESTION }];
    expect(await request("/v1/chat/completions", { model: "rockbot", messages })).toMatchObject({
      choices: [{ finish_reason: "stop", message: { content: ANSWER } }],
    });
    expect(await world.calledTools()).toEqual(STEPS);
  });

  test("connections that the table of who talks to whom has are made, and all others are refused", async () => {
    const pods = (await podsOf()).filter(({ status }) => status.phase === "Running");
    const slice = await cluster.json<{
      readonly endpoints: readonly [{ readonly addresses: readonly [string] }];
      readonly ports: readonly [{ readonly port: number }];
    }>([...["--namespace", "default", "get", "endpointslice", "kubernetes"]]);
    const ports: Readonly<Record<string, readonly number[]>> = {
      broker: [5672, 15672, 15692],
      redis: [6379],
      ...Object.fromEntries(enabled.map(({ name, port }) => [name, port === undefined ? [8481] : [8481, port]])),
    };
    const targets = [
      ...pods.flatMap(({ metadata, status }) => {
        const part = metadata.labels["app.kubernetes.io/name"] ?? "";
        return (ports[part] ?? []).map((port) => ({ name: `${part} ${port}`, host: status.podIP, port }));
      }),
      { name: "the API server 6443", host: slice.endpoints[0].addresses[0], port: slice.ports[0].port },
    ];
    const talks = whoTalks(services);
    const allowed = (from: string): string[] =>
      targets
        .map(({ name }) => name)
        .filter((target) =>
          talks.some((talk) => talk.from === from && talk.ports.some((port) => target === `${talk.to} ${port}`)),
        );
    const open = async (pod: string, from: string): Promise<string[]> => {
      const others = targets.filter(({ name }) => !name.startsWith(`${from} `)); // a pod always reaches itself
      const reached = await cluster.exec(namespace.name, pod, [
        "node",
        "--eval",
        REACH_PROGRAM,
        JSON.stringify(others),
      ]);
      return (JSON.parse(reached) as readonly Target[]).map(({ name }) => name);
    };

    const found = enabled.map(
      async ({ name }) => [name, await open(`deployment/${release.name}-${name}`, name)] as const,
    );
    expect(Object.fromEntries(await Promise.all(found))).toEqual(
      Object.fromEntries(enabled.map(({ name }) => [name, allowed(name)])),
    );
  });

  test("after an uninstall nothing of it is left, in its namespaces and outside", async () => {
    await release.helm(["uninstall", release.name, "--wait", "--timeout", "120s"], 130_000);
    const kinds =
      "deployments,statefulsets,jobs,pods,services,configmaps,secrets,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets,persistentvolumeclaims";
    const left = () =>
      cluster.kubectl([
        "--namespace",
        namespace.name,
        "get",
        kinds,
        "--selector",
        `app.kubernetes.io/instance=${release.name}`,
        "--output",
        "name",
      ]);
    await expect.poll(left).toBe("");
    const outside = () =>
      cluster.kubectl([
        "get",
        "namespaces,priorityclasses,validatingadmissionpolicies",
        "--selector",
        `app.kubernetes.io/instance=${release.name}`,
        "--output",
        "name",
      ]);
    await expect.poll(outside).toBe("");
  });
});
