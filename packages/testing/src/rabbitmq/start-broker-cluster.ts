import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { type Container, startContainer } from "../machine/container.ts";
import { canRunContainers, docker } from "../machine/docker.ts";
import { freePort } from "../machine/free-port.ts";
import { run } from "../machine/run.ts";
import { BROKER_IMAGE } from "./container-broker.ts";
import { createControl } from "./control.ts";
import { untilAmqpAnswers } from "./until-amqp-answers.ts";

/** What RabbitMQ does when its nodes lose sight of each other. */
export type PartitionHandling = "ignore" | "pause_minority" | "autoheal";

/** One of the cluster's nodes. */
export interface BrokerNode {
  /** Its own address, with user and password. Stays the same over restarts. */
  readonly url: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Ends it in order, as an upgrade does. */
  stop(): Promise<void>;
  /** Starts it again; resolves once it accepts connections, for which it may need the others. */
  restart(): Promise<void>;
  /** Runs `rabbitmqctl`. @returns its output */
  ctl(...args: string[]): Promise<string>;
}

/** RabbitMQ on several nodes of one's own. Disposal ends them, and removes their data and network. */
export interface BrokerCluster extends AsyncDisposable {
  /** The address with all nodes. */
  readonly url: string;
  readonly nodes: readonly BrokerNode[];
  /** Parts one node from the others; clients still reach all. Needs root. */
  part(node: BrokerNode): Promise<void>;
  heal(): Promise<void>;
}

const INSIDE_PORT = 5672;
/** Nodes miss each other after this: RabbitMQ's own 60 s would make each test a minute longer. */
const TICK_SECONDS = 8;
const SETUP =
  'printf %s "$COOKIE" > ~/.erlang.cookie && chmod 600 ~/.erlang.cookie && printf %s "$CONFIG" > /etc/rabbitmq/conf.d/20-cluster.conf';

/** Says why this machine can run no cluster; undefined if it can. */
export async function whyNoBrokerCluster(): Promise<string | undefined> {
  if (process.env["ROCKBOT_TEST_BROKER"] === "local")
    return "ROCKBOT_TEST_BROKER asks for local servers, and a cluster is of containers";
  return (await canRunContainers(BROKER_IMAGE)) ? undefined : `no Docker engine with the image ${BROKER_IMAGE} answers`;
}

/** A cluster of containers with a network and an Erlang cookie of their own, whose ports are on 127.0.0.1. */
// Long because: a server is set up from top to bottom, then come the short operations on it
export async function startBrokerCluster({
  size = 3,
  partitionHandling = "pause_minority",
}: {
  /** @default 3 */
  readonly size?: number | undefined;
  /** @default "pause_minority" */
  readonly partitionHandling?: PartitionHandling | undefined;
} = {}): Promise<BrokerCluster> {
  const network = `rockbot-${randomBytes(4).toString("hex")}`;
  const password = randomBytes(12).toString("hex");
  const cookie = randomBytes(12).toString("hex");
  const hosts = Array.from({ length: size }, (_, index) => `node${index + 1}`);
  const config = [
    "cluster_formation.peer_discovery_backend = classic_config",
    ...hosts.map((host, index) => `cluster_formation.classic_config.nodes.${index + 1} = rabbit@${host}`),
    `cluster_partition_handling = ${partitionHandling}`,
    `net_ticktime = ${TICK_SECONDS}`,
    "",
  ].join("\n");
  await using stack = new AsyncDisposableStack();
  await docker(["network", "create", "--label", "rockbot.test-server", network]);
  const removeNetwork = () => execFileSync("docker", ["network", "rm", network], { stdio: "ignore" });
  process.once("exit", removeNetwork);
  stack.defer(async () => {
    process.off("exit", removeNetwork);
    await docker(["network", "rm", network]);
  });

  const containers: Container[] = [];
  async function startNode(host: string): Promise<BrokerNode> {
    const port = await freePort();
    const container = await startContainer({
      image: BROKER_IMAGE,
      ports: [{ inside: INSIDE_PORT, outside: port }],
      network: { name: network, host },
      env: {
        RABBITMQ_DEFAULT_USER: "test",
        RABBITMQ_DEFAULT_PASS: password,
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+sbwt none",
        COOKIE: cookie,
        CONFIG: config,
      },
      command: [
        "sh",
        "-c",
        `${SETUP} && : > /etc/rabbitmq/enabled_plugins && exec docker-entrypoint.sh rabbitmq-server`,
      ],
      untilReady: (explain) => untilAmqpAnswers(port, explain),
    });
    stack.use(container);
    containers.push(container);
    const { ctl, restarted } = createControl((...args) => container.exec({}, "rabbitmqctl", ...args));
    const node: BrokerNode = {
      url: `amqp://test:${password}@127.0.0.1:${port}`,
      kill: container.kill,
      stop: container.stop,
      async restart() {
        await container.restart();
        restarted();
      },
      ctl,
    };
    byNode.set(node, container);
    return node;
  }

  const byNode = new Map<BrokerNode, Container>();
  const started = await Promise.allSettled(hosts.map(startNode)); // all, so that whatever has started is known, and removed
  const nodes = started.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
  await nodes[0]?.ctl("await_online_nodes", String(size));

  const inside = async (container: Container, ...args: string[]) =>
    run("nsenter", ["--net", "--target", await container.pid(), "iptables", "-w", ...args], { timeoutMs: 10_000 });
  const parts = stack.move();
  return {
    url: `amqp://test:${password}@${nodes.map(({ url }) => new URL(url).host).join(",")}`,
    nodes,
    async part(node) {
      const parted = byNode.get(node);
      if (parted === undefined) throw new RangeError("Cannot part a node: it is of another cluster");
      for (const other of containers) {
        if (other === parted) continue;
        const address = await other.address();
        await inside(parted, "-A", "INPUT", "-s", address, "-j", "DROP");
        await inside(parted, "-A", "OUTPUT", "-d", address, "-j", "DROP");
      }
    },
    async heal() {
      for (const container of containers) await inside(container, "-F");
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
