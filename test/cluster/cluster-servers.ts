import type { KubeObject } from "@rockbot/testing";
import type { Cluster, OwnNamespace } from "./cluster.ts";

const USER = "test";
const PASSWORD = "test-only";
const READY_S = 240;
const UNTIL_REACHED = `
import socket, time
for name, port in [("rabbitmq", 5672), ("redis", 6379)]:
    for left in range(50, -1, -1):
        try:
            socket.create_connection((name, port), 5).close()
            break
        except OSError:
            if left == 0: raise
            time.sleep(0.2)
`;

/** A RabbitMQ and a Redis in a namespace of their own, as somebody else's, and a pod under no policy, which reaches what there is to be reached. */
export interface ClusterServers extends AsyncDisposable {
  readonly namespace: string;
  /** Within the cluster. */
  readonly amqpUrl: string;
  readonly redisUrl: string;
  /** From here, by a forwarded port. */
  readonly outerAmqpUrl: string;
  /** What a Python script prints in a pod without a policy. */
  python(script: string): Promise<string>;
  /** The addresses of the broker: its pod's and its Service's. */
  readonly brokerAddresses: readonly string[];
}

export async function startClusterServers(cluster: Cluster, prefix: string): Promise<ClusterServers> {
  await using starting = new AsyncDisposableStack();
  const { name: namespace }: OwnNamespace = starting.use(await cluster.namespace(`${prefix}-servers`));
  await cluster.apply(
    ...server(namespace, {
      name: "rabbitmq",
      image: "rabbitmq:4-management",
      port: 5672,
      env: { RABBITMQ_DEFAULT_USER: USER, RABBITMQ_DEFAULT_PASS: PASSWORD },
    }),
    ...server(namespace, { name: "redis", image: "redis:8", port: 6379 }),
    ...server(namespace, { name: "control", image: "python:3.12-slim", command: ["python3", "-c", "import time; time.sleep(100000)"] }),
  );
  const wait = ["wait", "--for=condition=Ready", `--timeout=${READY_S}s`, "pod/rabbitmq", "pod/redis", "pod/control"];
  await cluster.kubectl(["--namespace", namespace, ...wait], { timeoutMs: (READY_S + 10) * 1_000 });
  const outer = starting.use(await cluster.forward(namespace, "service/rabbitmq", 5672));
  const path = (what: string, path: string): Promise<string> => cluster.kubectl(["--namespace", namespace, "get", what, "--output", `jsonpath={${path}}`]);
  const brokerAddresses = await Promise.all([path("pod/rabbitmq", ".status.podIP"), path("service/rabbitmq", ".spec.clusterIP")]);
  const python = (script: string): Promise<string> => cluster.exec(namespace, "control", ["python3", "-c", script], 120_000);
  await python(UNTIL_REACHED); // a Service leads nowhere until its node has heard of the pod
  const started = starting.move();
  return {
    namespace,
    amqpUrl: `amqp://${USER}:${PASSWORD}@rabbitmq.${namespace}:5672`,
    redisUrl: `redis://redis.${namespace}:6379`,
    outerAmqpUrl: `amqp://${USER}:${PASSWORD}@127.0.0.1:${outer.port}`,
    brokerAddresses,
    python,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

interface ServerOptions {
  readonly name: string;
  readonly image: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
}

function server(namespace: string, { name, image, port, env = {}, command }: ServerOptions): KubeObject[] {
  const metadata = { name, namespace, labels: { app: name } };
  const container = {
    name,
    image,
    imagePullPolicy: "IfNotPresent",
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    ...(command === undefined ? {} : { command }),
    ...(port === undefined ? {} : { ports: [{ containerPort: port }], readinessProbe: { tcpSocket: { port }, periodSeconds: 2, failureThreshold: 60 } }),
  };
  const objects: (KubeObject & Readonly<Record<string, unknown>>)[] = [
    { apiVersion: "v1", kind: "Pod", metadata, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
  ];
  if (port !== undefined)
    objects.push({ apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec: { selector: { app: name }, ports: [{ port }] } });
  return objects;
}
