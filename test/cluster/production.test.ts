import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CHART } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { services } from "../deployment/services.ts";
import { Cluster, type ForwardedPort, type OwnNamespace, uniqueName } from "./cluster.ts";
import { type ClusterServers, startClusterServers } from "./cluster-servers.ts";
import { type HelmRelease, type InstallReleaseOptions, installRelease, testImages } from "./helm-release.ts";
import { imageDigests } from "./image-digests.ts";

const cluster = await Cluster.open();
const enabled = services.filter(({ values }) => values["enabled"]);
const valuesFiles = ["values.production.yaml"];
const secretText = (): string => randomBytes(24).toString("hex");

describe("the production profile", () => {
  const made = new AsyncDisposableStack();
  const [scripts, runtimeClassName, clientToken] = [
    uniqueName("production-scripts"),
    uniqueName("sandboxed"),
    secretText(),
  ];
  let namespace: OwnNamespace;
  let release: HelmRelease;
  let gateway: ForwardedPort;
  let scriptsImage: string;

  beforeAll(async () => {
    const passwords = Object.fromEntries(
      [...services.filter(({ onBus }) => onBus).map(({ name }) => name), "operator"].map((name) => [
        name,
        secretText(),
      ]),
    );
    const servers = made.use(await startClusterServers(cluster, "production", { redisUsers: redisUsers(passwords) }));
    namespace = made.use(await cluster.namespace("production", { "pod-security.kubernetes.io/enforce": "restricted" }));
    await makeSecrets({ namespace: namespace.name, servers, passwords, clientToken });
    const runtimeClass = {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: runtimeClassName },
      handler: "runc",
    };
    await cluster.apply(runtimeClass);
    made.defer(async () => void (await cluster.kubectl(["delete", "runtimeclass", runtimeClassName])));
    const values = await productionValues({ servers, scripts, runtimeClassName, clientToken });
    scriptsImage = values.scriptsManager.settings.kubernetesImage;
    release = made.use(await installRelease(cluster, { namespace: namespace.name, valuesFiles, values }));
    gateway = made.use(await cluster.forward(namespace.name, `service/${release.name}-gateway`, 8480));
  });
  afterAll(() => made.disposeAsync());

  const call = async (token: string, tool: string, input: object): Promise<Response> =>
    await fetch(`http://127.0.0.1:${gateway.port}/v1/tools/${tool}/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(input),
      signal: AbortSignal.timeout(120_000),
    });

  test("is ready with two of each service on the bus, from images by digest", async () => {
    const { items } = await cluster.json<Deployments>(["--namespace", namespace.name, "get", "deployments"]);
    expect(
      Object.fromEntries(
        items.map(({ metadata, status }) => [metadata.labels["app.kubernetes.io/name"], status.readyReplicas]),
      ),
    ).toEqual(Object.fromEntries(enabled.map(({ name }) => [name, 2])));
    for (const { spec } of items) expect(spec.template.spec.containers[0].image).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  test("helm test calls a tool through the gateway, with a client's own token", async () => {
    expect(await release.helm(["test", release.name, "--logs", "--timeout", "120s"], 150_000)).toMatch(/status 200/);
  });

  test("a client runs a script in the sandboxed runtime, and the gateway's token opens nothing", async () => {
    const answer = await call(clientToken, "execute_python_script", {
      script: "import socket; print(socket.gethostname())",
    });
    const { content, isError } = (await answer.json()) as { readonly content: string; readonly isError: boolean };
    expect({ content, isError }).toEqual({ content: expect.stringMatching(/^rockbot-script-/), isError: false });
    const { items } = await cluster.json<Pods>(["--namespace", scripts, "get", "pods"]);
    expect(items.length).toBeGreaterThan(0);
    for (const { spec } of items)
      expect(spec).toMatchObject({ runtimeClassName, containers: [{ image: scriptsImage }] });

    const { GATEWAY_TOKEN } = await cluster.secret(namespace.name, "of-gateway");
    expect((await call(GATEWAY_TOKEN ?? "", "list_scheduled_tasks", {})).status).toBe(401);
  });

  test("one pod of each service is lost, and the next call of each is answered", async () => {
    for (const { name } of enabled) {
      const selector = ["--selector", `app.kubernetes.io/name=${name}`];
      const [pod = ""] = (
        await cluster.kubectl(["--namespace", namespace.name, "get", "pods", ...selector, "--output", "name"])
      ).split("\n");
      await cluster.kubectl(["--namespace", namespace.name, "delete", pod, "--grace-period=0", "--force"]);
    }
    await expect.poll(async () => (await call(clientToken, "list_scheduled_tasks", {})).status).toBe(200);
    // The way to the gateway's pod of before may be cut only now.
    const ran = async () => (await call(clientToken, "execute_python_script", { script: "print(6 * 7)" })).json();
    await expect.poll(ran).toMatchObject({ content: "42\n", isError: false });
  });

  test("after an uninstall nothing is left but the Secrets that were there before", async () => {
    await release.helm(["uninstall", release.name, "--wait", "--timeout", "120s"], 130_000);
    const left = () =>
      cluster.kubectl([
        "get",
        "all,configmaps,secrets,persistentvolumeclaims,networkpolicies",
        ...ofRelease(),
        "--all-namespaces",
        "--output",
        "name",
      ]);
    const ofRelease = () => ["--selector", `app.kubernetes.io/instance=${release.name}`];
    await expect.poll(left).toBe("");
    expect(Object.keys(await cluster.secret(namespace.name, "of-gateway"))).toContain("BUS_URL");
  });
});

test("the production profile refuses to be installed before it is filled in, and names all that is missing", async () => {
  await using namespace = await cluster.namespace("unfilled");
  const refused = installRelease(cluster, { namespace: namespace.name, valuesFiles }).then(
    () => "",
    (error: Error) => error.message,
  );
  const missing = enabled.flatMap(({ key }) => [`${key}.image.digest`, `${key}.secrets.existingSecret`]);
  const parts = [
    "kubernetesImage",
    "networkPolicy.apiServer.cidrs",
    "broker.existing.managementUrl",
    "rights.passwordsSecret",
    "policy:",
  ];
  const said = await refused;
  expect([...missing, ...parts].filter((name) => !said.includes(name))).toEqual([]);
  expect(await cluster.kubectl(["--namespace", namespace.name, "get", "all,secrets", "--output", "name"])).toBe("");
});

interface Deployments {
  readonly items: readonly {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly [{ readonly image: string }] } };
    };
    readonly status: { readonly readyReplicas?: number };
  }[];
}

interface Pods {
  readonly items: readonly { readonly spec: object }[];
}

/** The users that somebody's Redis has for the services, by their names, each with its rules. */
const redisUsers = (passwords: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    services
      .filter(({ usesRedis }) => usesRedis)
      .map(({ name, redisRules }) => [name, `>${passwords[name]} resetchannels -@all ${redisRules}`]),
  );

interface MakeSecretsOptions {
  readonly namespace: string;
  readonly servers: ClusterServers;
  readonly passwords: Readonly<Record<string, string>>;
  readonly clientToken: string;
}

/**
 * What values.production.yaml asks for: a Secret for each service, the passwords of the broker's users, its
 * administrator, and a client's token.
 */
async function makeSecrets({ namespace, servers, passwords, clientToken }: MakeSecretsOptions): Promise<void> {
  const as = (url: string, user: string): string =>
    Object.assign(new URL(url), { username: user, password: passwords[user] }).href;
  const secrets: Record<string, Readonly<Record<string, string>>> = { passwords, client: { token: clientToken } };
  for (const { name, required, values } of enabled) {
    const made = {
      BUS_URL: as(servers.amqpUrl, name),
      REDIS_URL: as(servers.redisUrl, name),
      GATEWAY_TOKEN: secretText(),
      MCP_TOKEN: secretText(),
    };
    const { keys } = values["secrets"] as { readonly keys: readonly string[] };
    secrets[`of-${name}`] = Object.fromEntries(
      [...required, ...keys].map((key) => [key, made[key as keyof typeof made]]),
    );
  }
  const { username, password } = new URL(servers.amqpUrl);
  secrets["administrator"] = { username, password };
  await cluster.apply(
    ...Object.entries(secrets).map(([name, stringData]) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace },
      stringData,
    })),
  );
}

interface ProductionOptions {
  readonly servers: ClusterServers;
  readonly scripts: string;
  readonly runtimeClassName: string;
  readonly clientToken: string;
}

/**
 * What an operator fills in. What differs from a cluster that strangers' prompts reach: the runtime class has the
 * handler of all other pods, as one node may have no gVisor; the broker and Redis are one pod each, without TLS;
 * requests are small, so that two of each service fit one node.
 */
async function productionValues({ servers, scripts, runtimeClassName, clientToken }: ProductionOptions) {
  const images = Object.fromEntries(
    [...enabled.map(({ name }) => name), "cli"].map((name) => [name, testImages.of(name)]),
  );
  const named = (image: { readonly repository: string; readonly tag: string }): string =>
    `${image.repository}:${image.tag}`;
  const python = "python:3.12-slim";
  const digests = await imageDigests(cluster, [...Object.values(images).map(named), python]);
  const imageOf = (name: string) => {
    const image = images[name] as (typeof images)[string];
    return { ...image, digest: digests.get(named(image)) };
  };
  const to = (app: string) => [
    {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": servers.namespace } },
      podSelector: { matchLabels: { app } },
    },
  ];
  const requests = { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "384Mi" } };
  return {
    ...Object.fromEntries(
      enabled.map(
        ({ name, key }) =>
          [key, { image: imageOf(name), secrets: { existingSecret: `of-${name}` }, resources: requests }] as const,
      ),
    ),
    scriptsManager: {
      image: imageOf("scripts-manager"),
      secrets: { existingSecret: "of-scripts-manager" },
      resources: requests,
      settings: {
        kubernetesImage: `python@${digests.get(python)}`,
        processors: 0.1,
        sandboxFloor: 1,
        sandboxCeiling: 3,
      },
    },
    scripts: { namespace: { name: scripts }, runtimeClassName },
    networkPolicy: { apiServer: { cidrs: await apiServerCidrs() } },
    broker: { existing: { to: to("rabbitmq"), managementUrl: `http://rabbitmq.${servers.namespace}:15672` } },
    redis: { existing: { to: to("redis") } },
    rights: {
      image: imageOf("cli"),
      passwordsSecret: "passwords",
      managementSecret: { name: "administrator" },
      resources: requests,
    },
    policy: { text: policyFor(clientToken) },
    tests: { tokenSecret: { name: "client", key: "token" } },
  } satisfies InstallReleaseOptions["values"];
}

/** The chart's policy, with a client that has a token of its own. */
function policyFor(token: string): string {
  const policy = parse(readFileSync(join(CHART, "files/policy.yaml"), "utf8")) as {
    readonly callers: object;
    readonly delegates: readonly unknown[];
  };
  const client = {
    user: null,
    tokens: [{ hash: `sha256:${createHash("sha256").update(token).digest("hex")}` }],
    allow: ["*"],
  };
  return stringify({ ...policy, callers: { ...policy.callers, client } });
}

/** As `kubectl get endpointslices kubernetes` and its Service tell them. */
async function apiServerCidrs(): Promise<readonly string[]> {
  const ask = (kind: string, path: string): Promise<string> =>
    cluster.kubectl(["--namespace", "default", "get", kind, "kubernetes", "--output", `jsonpath={${path}}`]);
  const addresses = await Promise.all([
    ask("endpointslice", ".endpoints[*].addresses[*]"),
    ask("service", ".spec.clusterIPs[*]"),
  ]);
  return addresses
    .flatMap((text) => text.split(" "))
    .map((address) => `${address}/${address.includes(":") ? 128 : 32}`);
}
