import { copyFile, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  badPages,
  freePort,
  gatewayClient,
  type ModelServer,
  type NodeProgram,
  type PageServer,
  startModelServer,
  startNodeProgram,
  startOwnBroker,
  startOwnRedis,
  startPageServer,
  type TestBroker,
  type TestRedis,
  temporaryFolder,
} from "@rockbot/testing";
import { type Channel, connect } from "amqplib";
import type { Target } from "./prometheus.ts";

/** A page that takes a while. */
async function slowPage(_: unknown, response: { end(text: string): unknown }): Promise<void> {
  await sleep(600);
  response.end("<h1>Slow</h1>");
}

/** One that is read at once, one that never answers, and one between. */
const PAGES = {
  "/quick": "<h1>Quick</h1>",
  "/silent": badPages.silent(),
  "/slow": slowPage,
  "/broken": { status: 503 },
};

const ROOT = join(import.meta.dirname, "../..");

const GATEWAY_TOKEN = "observed-gateway-token";
const MCP_TOKEN = "observed-mcp-token";

/**
 * A running system whose parts can be harmed: every service as a process of its own, with a broker and a Redis of its
 * own.
 */
export interface ObservedSystem extends AsyncDisposable {
  readonly broker: TestBroker;
  readonly redis: TestRedis;
  readonly pages: PageServer;
  /**
   * The files of all processes: `policy.yaml`, `audit.jsonl` of web-tools, `bus-url` of the gateway, and the folder
   * `programs` of scripts-manager.
   */
  readonly folder: string;
  readonly targets: readonly Target[];
  readonly model: ModelServer;
  readonly environments: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Ends the processes of these names without a warning. */
  kill(...names: readonly string[]): Promise<void>;
  /** Starts what has been killed. */
  restart(...names: readonly string[]): void;
  /** Calls a tool by the gateway's HTTP. @returns the answer's status */
  call(tool: string, args: object, options?: { readonly timeoutMs?: number; readonly token?: string }): Promise<number>;
  /** Publishes past all that RockBot checks. */
  raw(publish: (channel: Channel) => Promise<void>): Promise<void>;
}

export interface StartObservedSystemOptions {
  /** @default every service that has a part here */
  readonly only?: readonly string[];
}

// Long because: each process has its environment
export async function startObservedSystem({ only }: StartObservedSystemOptions = {}): Promise<ObservedSystem> {
  await using starting = new AsyncDisposableStack();
  const { path: folder } = starting.use(await temporaryFolder());
  const [broker, redis, pages] = await Promise.all([
    startOwnBroker({ hasManagement: true }),
    startOwnRedis(),
    startPageServer(PAGES),
  ]);
  for (const part of [broker, redis, pages]) starting.use(part);
  const policy = (await readFile(join(ROOT, "docker/policy/policy.yaml"), "utf8")).replace(
    "identity: verified",
    "identity: trusted",
  );
  await writeFile(join(folder, "policy.yaml"), policy);
  await copyFile(join(folder, "policy.yaml"), join(folder, "policy.to-break.yaml"));
  await writeFile(join(folder, "bus-url"), broker.url);
  await symlink("/usr/bin", join(folder, "programs")); // of scripts-manager
  const mcpPort = await freePort();
  const mcpServer = { url: `http://127.0.0.1:${mcpPort}/mcp`, auth: { type: "bearer", token: MCP_TOKEN } };
  await writeFile(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { "system-info": mcpServer } }));
  const model = starting.use(await startModelServer(() => ({ text: "Hello." })));
  const gatewayPort = await freePort();
  const common = {
    BUS_URL: broker.url,
    REDIS_URL: redis.url,
    POLICY_FILE: join(folder, "policy.yaml"),
    LOG_LEVEL: "warn",
  };
  const { BUS_URL: _, ...withoutBus } = common;
  const environments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "web-tools": {
      ...common,
      CONCURRENCY: "4",
      ALLOW_ADDRESSES: `127.0.0.1:${pages.port}`,
      AUDIT_FILE: join(folder, "audit.jsonl"),
    },
    "system-info-mcp": { PORT: String(mcpPort), MCP_TOKEN, LOG_LEVEL: "warn" },
    "mcp-bridge": { ...common, MCP_CONFIG: join(folder, "mcp.json") },
    "scripts-manager": { ...common, PATH: join(folder, "programs"), SANDBOX_IDLE_MS: "1000" },
    scheduler: { ...common, POLICY_FILE: join(folder, "policy.to-break.yaml"), SHORTEST_INTERVAL_SECONDS: "1" },
    agent: { ...common, MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey },
    gateway: { ...withoutBus, BUS_URL_FILE: join(folder, "bus-url"), PORT: String(gatewayPort), GATEWAY_TOKEN },
  };
  const processes = new Map<string, NodeProgram>();
  const targets: Target[] = [];
  const ports = new Map<string, number>();
  const start = (job: string) => {
    const env = { ...environments[job], HEALTH_PORT: String(ports.get(job)) };
    const process = startNodeProgram(join(ROOT, "services/main.ts"), { args: [job], env, cwd: ROOT });
    processes.set(job, process);
    // As compose and a kubelet do: a service gives up its start where the broker is slow.
    void process.ended.then((code) => (code === 1 ? start(job) : undefined));
  };
  starting.defer(
    async () => void (await Promise.all([...processes.values()].map((process) => process[Symbol.asyncDispose]()))),
  );
  for (const job of Object.keys(environments).filter((name) => only?.includes(name) !== false)) {
    const port = await freePort();
    ports.set(job, port);
    targets.push({ job, address: `127.0.0.1:${port}` });
    start(job);
  }
  const parts = starting.move();
  return {
    broker,
    redis,
    pages,
    folder,
    targets,
    model,
    environments: new Map(Object.entries(environments)),
    kill: async (...names) =>
      void (await Promise.all(names.map((name) => processes.get(name)?.[Symbol.asyncDispose]()))),
    restart: (...names) => names.forEach(start),
    async call(tool, args, { timeoutMs = 10_000, token = GATEWAY_TOKEN } = {}) {
      const client = gatewayClient(`http://127.0.0.1:${gatewayPort}`, token);
      return (await client.call(tool, args, { "rockbot-timeout-ms": String(timeoutMs) })).status;
    },
    async raw(publish) {
      const connection = await connect(broker.url);
      try {
        const channel = await connection.createConfirmChannel();
        await publish(channel);
        await channel.waitForConfirms();
      } finally {
        await connection.close();
      }
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
