import { connectBus } from "@rockbot/bus-rabbitmq";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { services } from "../deployment/services.ts";
import { type Cluster, uniqueName } from "./cluster.ts";
import { type ClusterServers, startClusterServers } from "./cluster-servers.ts";
import { type HelmRelease, installRelease, testImages } from "./helm-release.ts";

/** The chart with scripts-manager alone, beside a broker and a Redis of somebody else. */
export interface ScriptsRelease extends AsyncDisposable {
  readonly servers: ClusterServers;
  readonly release: HelmRelease;
  /** The namespace of the release. */
  readonly namespace: string;
  /** The namespace of the scripts. */
  readonly scripts: string;
  /** The name of the manager's Deployment and account. */
  readonly manager: string;
  readonly caller: ToolCaller;
  /** What a script prints. */
  run(script: string, timeoutMs?: number): Promise<string>;
}

/** @param settings of scripts-manager */
export async function installScripts(
  cluster: Cluster,
  { settings }: { readonly settings: Readonly<Record<string, unknown>> },
): Promise<ScriptsRelease> {
  await using installing = new AsyncDisposableStack();
  const servers = installing.use(await startClusterServers(cluster, "scripts"));
  const { name: namespace } = installing.use(
    await cluster.namespace("rockbot", { "pod-security.kubernetes.io/enforce": "restricted" }),
  );
  const scripts = uniqueName("scripts");
  await cluster.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "urls", namespace },
    stringData: { BUS_URL: servers.amqpUrl, REDIS_URL: servers.redisUrl },
  } as never);
  const values = {
    ...Object.fromEntries(services.map(({ key }) => [key, { enabled: false }])),
    broker: { kind: "existing" },
    redis: { kind: "existing" },
    rights: { enabled: false },
    tests: { enabled: false },
    policy: { text: 'everyone: { allow: ["*"] }\n' },
    scripts: { namespace: { name: scripts } },
    scriptsManager: {
      enabled: true,
      image: testImages.of("scripts-manager"),
      secrets: { existingSecret: "urls" },
      resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
      settings: {
        kubernetesImage: "python:3.12-slim",
        processors: 0.1,
        shutdownGraceMs: 20_000,
        logLevel: "info",
        ...settings,
      },
    },
  };
  const release = installing.use(await installRelease(cluster, { namespace, values }));
  const bus = installing.use(await connectBus(servers.outerAmqpUrl));
  const caller = installing.use(await createToolCaller(bus, { agent: "cluster-test" }));
  const installed = installing.move();
  return {
    servers,
    release,
    namespace,
    scripts,
    manager: `${release.name}-scripts-manager`,
    caller,
    async run(script, timeoutMs = 120_000) {
      const { content } = await caller.call("execute_python_script", { script, timeout_seconds: 60 }, { timeoutMs });
      return content ?? "";
    },
    [Symbol.asyncDispose]: () => installed.disposeAsync(),
  };
}
