import { dirname, join } from "node:path";
import { build } from "esbuild";
import type { Cluster } from "./cluster.ts";
import { testImages } from "./helm-release.ts";

const MODEL_PORT = 8490;
const PAGE_PORT = 8491;
const READY_S = 100;
/** CommonJS libraries call `require` for Node's own modules. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** The model and the page of the agent's story, in a pod of the cluster. */
export interface StoryWorld extends AsyncDisposable {
  /** The values by which the chart's agent and web-tools reach it, and nobody else of the release. */
  readonly values: { readonly agent: object; readonly webTools: object };
  /** The tools that the model has called in the turn of the question, answer by answer. */
  calledTools(): Promise<unknown>;
}

export async function startStoryWorld(cluster: Cluster): Promise<StoryWorld> {
  await using starting = new AsyncDisposableStack();
  const { name: namespace } = starting.use(await cluster.namespace("world"));
  const inNamespace = ["--namespace", namespace];
  const metadata = { name: "world", namespace, labels: { app: "world" } };
  const ports = [MODEL_PORT, PAGE_PORT].map((port) => ({ name: `port-${port}`, port }));
  await cluster.apply({
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { selector: { app: "world" }, ports },
  } as never);
  const address = await cluster.kubectl([
    ...inNamespace,
    "get",
    "service",
    "world",
    "--output",
    "jsonpath={.spec.clusterIP}",
  ]);
  const program = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "main.mjs": await bundled() } };
  await cluster.kubectl(["create", "--filename", "-"], { input: JSON.stringify(program) }); // apply would write it into an annotation, too
  const { repository, tag, pullPolicy } = testImages.of("gateway"); // for its Node
  const container = {
    name: "world",
    image: `${repository}:${tag}`,
    imagePullPolicy: pullPolicy,
    command: ["node", "/world/main.mjs"],
    env: [{ name: "PAGE_URL", value: `http://${address}:${PAGE_PORT}/warehouse` }],
    volumeMounts: [{ name: "world", mountPath: "/world" }],
    readinessProbe: { tcpSocket: { port: PAGE_PORT }, periodSeconds: 2 },
  };
  const spec = {
    terminationGracePeriodSeconds: 0,
    containers: [container],
    volumes: [{ name: "world", configMap: { name: "world" } }],
  };
  await cluster.apply({ apiVersion: "v1", kind: "Pod", metadata, spec } as never);
  const wait = ["wait", "--for=condition=Ready", `--timeout=${READY_S}s`, "pod/world"];
  await cluster.kubectl([...inNamespace, ...wait], { timeoutMs: (READY_S + 10) * 1_000 });

  const to = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } }];
  const wayTo = (port: number) => ({ egress: [{ to, ports: [{ protocol: "TCP", port }] }] });
  const started = starting.move();
  return {
    values: {
      agent: {
        enabled: true,
        settings: { modelUrl: `http://world.${namespace}:${MODEL_PORT}/v1`, model: "test-model" },
        ...wayTo(MODEL_PORT),
      },
      webTools: { settings: { allowAddresses: [`${address}:${PAGE_PORT}`] }, ...wayTo(PAGE_PORT) },
    },
    calledTools: async () => JSON.parse((await cluster.logs(namespace, "pod/world")).trim().split("\n").at(-1) ?? ""),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** The program of the pod in one file, small enough for a ConfigMap. */
async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: dirname(dirname(import.meta.dirname)),
    entryPoints: [join(import.meta.dirname, "world-main.ts")],
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    banner: { js: REQUIRE },
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}
