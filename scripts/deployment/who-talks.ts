import type { ChartedService } from "../generate/services-json.ts";

/** Who is not a service of the list. */
export const parties = {
  names: "the cluster's names",
  internet: "public addresses",
  configured: "addresses that its settings name",
  apiServer: "the API server",
  clients: "clients of the gateway",
  readers: "readers of metrics",
  collector: "the collector of traces",
  broker: "broker",
  redis: "redis",
  rights: "rights",
  test: "test",
} as const;

/** One kind of connection. */
export interface Talk {
  readonly from: string;
  readonly to: string;
  readonly ports: readonly number[];
  readonly what: string;
}

const DNS = [53];
const BUS = [5671, 5672];
const REDIS = [6379, 26379];
const MANAGEMENT = [15672];
const BROKER_METRICS = [15692];
/** The port mapper, and the nodes' own. */
const BROKER_NODES = [4369, 25672];
const HEALTH = [8481];
const INTERNET = [80, 443, 8080, 8443];
const API_SERVER = [443, 6443];

/**
 * Who may connect to whom in a release with all services: everything else is dropped. docs/operate/secure.md has it as
 * a table, and a test compares it with the network policies that the chart renders.
 */
export function whoTalks(services: readonly ChartedService[]): readonly Talk[] {
  const talks = [
    ...services.flatMap((service): Talk[] => [...outgoing(service, services), ...incoming(service)]),
    ...state,
  ];
  const names = [...new Set(talks.map(({ from }) => from))].filter(
    (from) => from !== parties.clients && from !== parties.readers,
  );
  return [...talks, ...names.map((from): Talk => ({ from, to: parties.names, ports: DNS, what: "DNS" }))];
}

/** The connections to the broker and Redis that the chart runs. */
const state: readonly Talk[] = [
  { from: parties.rights, to: parties.broker, ports: MANAGEMENT, what: "users and their rights; port 15671 with TLS" },
  { from: parties.broker, to: parties.broker, ports: BROKER_NODES, what: "nodes of a cluster" },
  { from: parties.readers, to: parties.broker, ports: BROKER_METRICS, what: "metrics" },
  { from: parties.redis, to: parties.redis, ports: REDIS, what: "replicas and Sentinels" },
];

function outgoing({ name, onBus, usesRedis, egress }: ChartedService, services: readonly ChartedService[]): Talk[] {
  const to = (party: string, ports: readonly number[], what: string): Talk => ({ from: name, to: party, ports, what });
  return [
    ...(onBus ? [to(parties.broker, BUS, "the bus")] : []),
    ...(usesRedis ? [to(parties.redis, REDIS, "what it remembers")] : []),
    ...services.flatMap(({ name: other, port, reachedBy }) =>
      reachedBy === name && port !== undefined ? [to(other, [port], "MCP")] : [],
    ),
    ...(egress.includes("internet") ? [to(parties.internet, INTERNET, "the web")] : []),
    ...(egress.includes("configured")
      ? [to(parties.configured, [], "as `egress` and `internet` of its values allow")]
      : []),
    ...(egress.includes("cluster") ? [to(parties.apiServer, API_SERVER, "pods of scripts")] : []),
    to(parties.collector, [], "as `monitoring.otlp` says"),
  ];
}

function incoming({ name, port, reachedBy }: ChartedService): Talk[] {
  const isOutside = reachedBy === "outside" && port !== undefined;
  return [
    ...(isOutside
      ? [parties.clients, parties.test].map(
          (from): Talk => ({ from, to: name, ports: [port], what: "HTTP, with a token" }),
        )
      : []),
    { from: parties.readers, to: name, ports: HEALTH, what: "metrics" },
  ];
}
