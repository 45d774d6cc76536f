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

/**
 * A RabbitMQ and a Redis in a namespace of their own, as somebody else's, and a pod under no policy, which reaches what
 * there is to be reached.
 */
export interface ClusterServers extends AsyncDisposable {
  readonly namespace: string;
  /** The address within the cluster. */
  readonly amqpUrl: string;
  readonly redisUrl: string;
  /** The address from here, by a forwarded port. */
  readonly outerAmqpUrl: string;
  /** What a Python script prints in a pod without a policy. */
  python(script: string): Promise<string>;
  /** The addresses of the broker: its pod's and its Service's. */
  readonly brokerAddresses: readonly string[];
}

interface ClusterServersOptions {
  /** Rules of Redis's users by their names. Nobody else gets in. @default everybody does */
  readonly redisUsers?: Readonly<Record<string, string>>;
}

export async function startClusterServers(
  cluster: Cluster,
  prefix: string,
  { redisUsers }: ClusterServersOptions = {},
): Promise<ClusterServers> {
  await using starting = new AsyncDisposableStack();
  const { name: namespace }: OwnNamespace = starting.use(await cluster.namespace(`${prefix}-servers`));
  await cluster.apply(
    ...server(namespace, {
      name: "rabbitmq",
      image: "rabbitmq:4-management",
      ports: [5672, 15672],
      env: { RABBITMQ_DEFAULT_USER: USER, RABBITMQ_DEFAULT_PASS: PASSWORD },
    }),
    ...server(namespace, {
      name: "redis",
      image: "redis:8",
      ports: [6379],
      command: ["redis-server", "--protected-mode", "no", ...redisArguments(redisUsers)],
    }),
    ...server(namespace, {
      name: "control",
      image: "python:3.12-slim",
      command: ["python3", "-c", "import time; time.sleep(100000)"],
    }),
  );
  const wait = ["wait", "--for=condition=Ready", `--timeout=${READY_S}s`, "pod/rabbitmq", "pod/redis", "pod/control"];
  await cluster.kubectl(["--namespace", namespace, ...wait], { timeoutMs: (READY_S + 10) * 1_000 });
  const outer = starting.use(await cluster.forward(namespace, "service/rabbitmq", 5672));
  const path = (what: string, path: string): Promise<string> =>
    cluster.kubectl(["--namespace", namespace, "get", what, "--output", `jsonpath={${path}}`]);
  const brokerAddresses = await Promise.all([
    path("pod/rabbitmq", ".status.podIP"),
    path("service/rabbitmq", ".spec.clusterIP"),
  ]);
  const python = (script: string): Promise<string> =>
    cluster.exec(namespace, "control", ["python3", "-c", script], 120_000);
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

const redisArguments = (users: Readonly<Record<string, string>> | undefined): readonly string[] =>
  users === undefined
    ? []
    : [
        "--user",
        "default",
        "off",
        ...Object.entries(users).flatMap(([name, rules]) => ["--user", name, "on", ...rules.split(" ")]),
      ];

interface ServerOptions {
  readonly name: string;
  readonly image: string;
  /** The first is open when it is ready. @default none, and no Service */
  readonly ports?: readonly number[];
  readonly env?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
}

function server(namespace: string, { name, image, ports = [], env = {}, command }: ServerOptions): KubeObject[] {
  const metadata = { name, namespace, labels: { app: name } };
  const container = {
    name,
    image,
    imagePullPolicy: "IfNotPresent",
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    ...(command === undefined ? {} : { command }),
    ...(ports.length === 0
      ? {}
      : {
          ports: ports.map((containerPort) => ({ containerPort })),
          readinessProbe: { tcpSocket: { port: ports[0] }, periodSeconds: 2, failureThreshold: 60 },
        }),
  };
  const objects: (KubeObject & Readonly<Record<string, unknown>>)[] = [
    { apiVersion: "v1", kind: "Pod", metadata, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
  ];
  const open = ports.map((port) => ({ name: `port-${port}`, port }));
  if (open.length > 0)
    objects.push({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace },
      spec: { selector: { app: name }, ports: open },
    });
  return objects;
}
