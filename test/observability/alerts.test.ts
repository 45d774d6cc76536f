import { randomBytes } from "node:crypto";
import { readFile, rename, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createEnvelope, encodeMessage, messages, toWire } from "@rockbot/contracts";
import { freePort, startNodeProgram } from "@rockbot/testing";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { queriesOf, readDashboards } from "./dashboards.ts";
import { type ObservedSystem, startObservedSystem } from "./observed-system.ts";
import { type Prometheus, startPrometheus, whyNoPrometheus } from "./prometheus.ts";

const ROOT = join(import.meta.dirname, "../..");
const { alerts } = parse(await readFile(join(ROOT, "helm/rockbot/files/alerts.yaml"), "utf8")) as { readonly alerts: readonly { readonly name: string }[] };

/** What makes alerts fire, and mends it afterwards. */
interface Reason {
  readonly fires: readonly string[];
  cause(system: ObservedSystem): Promise<void>;
  mend?(system: ObservedSystem): Promise<void>;
}

/** Until it is aborted, again each half second: a rate needs several samples. */
async function repeat(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => {}); // the system is being harmed
    await sleep(500, undefined, { signal }).catch(() => {});
  }
}

const ids = (count: number): readonly string[] => Array.from({ length: count }, () => randomBytes(16).toString("hex"));

/** As a caller's library sends it; `cli` is a caller of the policy. */
function request(tool: string, args: object, id: string, more: { readonly expiration?: number; readonly headers?: Readonly<Record<string, unknown>> } = {}) {
  const body = Buffer.from(JSON.stringify({ toolCallId: id, toolName: tool, arguments: JSON.stringify(args), sessionId: null }));
  const { headers = {}, ...properties } = more;
  return {
    body,
    properties: {
      type: "RockBot.Tools.ToolInvokeRequest",
      messageId: id,
      correlationId: id,
      contentType: "application/json",
      deliveryMode: 2,
      timestamp: Math.floor(Date.now() / 1000),
      replyTo: "tool.result.cli",
      ...properties,
      headers: { "rb-source": "cli", ...headers },
    },
  };
}

const EXCHANGE = "rockbot";
/** Of the policy. */
const CALLERS = ["cli", "gateway", "scheduler", "agent"];

const reasons: readonly Reason[] = [
  {
    fires: ["RockBotMcpServerDown"],
    async cause() {}, // the server is away from the start
  },
  {
    fires: ["RockBotSandboxesFail"],
    async cause({ folder, call }) {
      await unlink(join(folder, "programs"));
      void repeat(underway(), () => call("execute_python_script", { script: "print(1)" }));
    },
  },
  {
    fires: ["RockBotMessagesParked", "RockBotParkedMessagesLie"],
    cause: ({ raw }) =>
      raw(async (channel) => {
        const { properties } = request("web_browse", {}, ids(1)[0] as string);
        channel.publish(EXCHANGE, "tool.invoke", Buffer.from("no request"), { ...properties, replyTo: "elsewhere" });
      }),
  },
  {
    fires: ["RockBotOutcomeUnknown"],
    cause: ({ raw }) =>
      raw(async (channel) => {
        const headers = { "x-rockbot-sent-before-ms": "3600000" };
        const { body, properties } = request("execute_python_script", { script: "print(1)" }, ids(1)[0] as string, { headers });
        channel.publish(EXCHANGE, "script.invoke", body, properties);
      }),
  },
  {
    fires: ["RockBotGatewayRefuses"],
    async cause({ call }) {
      for (let round = 0; round < 14; round++) await Promise.all(Array.from({ length: 50 }, () => call("web_browse", {}, { token: "wrong" })));
    },
  },
  {
    fires: ["RockBotPolicyRefused"],
    cause: ({ folder }) => writeFile(join(folder, "policy.to-break.yaml"), "callers: nonsense\n"),
  },
  {
    fires: ["RockBotModelFails", "RockBotTurnsFail"],
    async cause({ call, model }) {
      await call("agent__chat", { message: "Hello" }, { timeoutMs: 60_000 });
      await model[Symbol.asyncDispose]();
      void repeat(underway(), () => call("agent__chat", { message: "Hello" }));
    },
  },
  {
    fires: ["RockBotCallsFail"],
    async cause({ call, pages }) {
      void repeat(underway(), () => call("web_browse", { url: `${pages.url}/broken` }));
    },
  },
  {
    fires: ["RockBotToolListsMissing"],
    async cause({ raw }) {
      const { type } = messages.ToolHeartbeat;
      const heartbeat = { service: "listless", instance: "a", epoch: 1, hash: "0123456789abcdef", pages: 1 };
      const envelope = createEnvelope({ topic: "tool.announce.listless", type, source: "listless", body: encodeMessage("ToolHeartbeat", heartbeat) });
      void repeat(underway(), () =>
        raw(async (channel) => {
          channel.publish(EXCHANGE, envelope.topic, Buffer.from(envelope.body), toWire(envelope) as object);
        }),
      );
    },
  },
  {
    fires: ["RockBotAuditFails"],
    async cause({ folder, call, pages }) {
      await rename(join(folder, "audit.jsonl"), join(folder, "audit.aside.jsonl"));
      await symlink("/dev/full", join(folder, "audit.jsonl"));
      void repeat(underway(), () => call("web_browse", { url: `${pages.url}/quick` }));
    },
    mend: ({ folder }) => unlink(join(folder, "audit.jsonl")),
  },
  {
    fires: ["RockBotSendersRefused"],
    async cause({ broker, folder }) {
      const [vhost, password] = ["verified", "of-web-tools"];
      await broker.ctl("add_vhost", vhost);
      await broker.ctl("add_user", "web-tools", password);
      for (const user of ["web-tools", "test"]) await broker.ctl("set_permissions", "-p", vhost, user, ".*", ".*", ".*");
      const policy = (await readFile(join(folder, "policy.yaml"), "utf8")).replace("identity: trusted", "identity: verified");
      await writeFile(join(folder, "policy.verified.yaml"), policy);
      const url = new URL(broker.url);
      const own = `amqp://web-tools:${password}@${url.host}/${vhost}`;
      const verified = startNodeProgram(join(ROOT, "services/main.ts"), {
        args: ["web-tools"],
        env: { BUS_URL: own, POLICY_FILE: join(folder, "policy.verified.yaml"), HEALTH_PORT: String(VERIFIED_PORT) },
      });
      onTestFinished(() => verified[Symbol.asyncDispose]());
      const { connect } = await import("amqplib");
      await using closing = new AsyncDisposableStack();
      const connection = closing.adopt(await connect(`${broker.url}/${vhost}`), (it) => it.close());
      const channel = await connection.createConfirmChannel();
      channel.on("error", () => {});
      await expect.poll(() => broker.ctl("list_queues", "-q", "-p", vhost, "name", "consumers")).toMatch(/rockbot\.web-tools\.v1\s+1/);
      await channel.bindQueue("rockbot.web-tools.v1", EXCHANGE, "tool.stolen");
      channel.publish(EXCHANGE, "tool.stolen", Buffer.from("{}"), { userId: "test" });
      await channel.waitForConfirms();
    },
  },
  {
    fires: ["RockBotQueueGrows", "RockBotRequestsWait", "RockBotCallsTimeOut", "RockBotGatewayErrors", "RockBotDeadlinesShort"],
    async cause({ raw, call, pages }) {
      const url = `${pages.url}/silent`;
      await raw(async (channel) => {
        for (const [index, id] of ids(800).entries()) {
          const headers = { "rb-source": CALLERS[index % CALLERS.length] }; // one alone may not have so many here
          const { body, properties } = request("web_browse", { url: `${url}?${index}` }, id, { expiration: 60_000, headers });
          channel.publish(EXCHANGE, "tool.invoke", body, properties);
        }
      });
      void repeat(underway(), () => call("web_browse", { url }, { timeoutMs: 400 }));
    },
    mend: ({ broker }) => broker.ctl("purge_queue", "rockbot.web-tools.v1").then(() => {}),
  },
  {
    fires: ["RockBotRedisDown", "RockBotClaimsUnavailable"],
    async cause({ redis, raw }) {
      await redis.kill();
      void repeat(underway(), () =>
        raw(async (channel) => {
          const { body, properties } = request("schedule_task", { name: "task", cron: "0 0 1 1 *", description: "Nothing." }, ids(1)[0] as string);
          channel.publish(EXCHANGE, "tool.invoke.scheduler", body, properties);
        }),
      );
    },
    mend: ({ redis }) => redis.restart(),
  },
  {
    fires: ["RockBotServiceDown", "RockBotCallsUnavailable", "RockBotScheduleFails"],
    async cause({ processes, call, pages }) {
      const task = { name: "often", cron: "*/5 * * * * *", description: "Say hello." };
      expect(await call("schedule_task", task, { timeoutMs: 60_000 })).toBe(200);
      for (const name of ["agent", "web-tools"]) {
        const service = processes.get(name);
        service?.kill("SIGKILL");
        await service?.ended;
      }
      void repeat(underway(), () => call("web_browse", { url: `${pages.url}/quick` }));
    },
  },
  {
    fires: ["RockBotMessagesDropped"],
    async cause({ raw, restart, pages }) {
      await raw(async (channel) => {
        // It expires while nobody is there, and is too large to be parked.
        const { body, properties } = request("web_browse", { url: `${pages.url}/?${"x".repeat(1_100_000)}` }, ids(1)[0] as string, { expiration: 1 });
        channel.publish(EXCHANGE, "tool.invoke", body, properties);
      });
      restart("web-tools");
    },
  },
  {
    fires: ["RockBotConnectionsFlap", "RockBotCredentialsUnreadable"],
    async cause({ broker, folder }) {
      await rename(join(folder, "bus-url"), join(folder, "bus-url.aside"));
      for (let round = 0; round < 6; round++) {
        await broker.ctl("close_all_connections", "by a test");
        await sleep(4_000);
      }
    },
    mend: ({ folder }) => rename(join(folder, "bus-url.aside"), join(folder, "bus-url")),
  },
  {
    fires: ["RockBotBrokerBlocked", "RockBotConfirmsSlow"],
    cause: ({ broker }) => broker.ctl("set_vm_memory_high_watermark", "0.00001").then(() => {}),
    mend: ({ broker }) => broker.ctl("set_vm_memory_high_watermark", "0.4").then(() => {}),
  },
  {
    fires: ["RockBotBrokerConnectionDown", "RockBotDiscoveryStale"],
    cause: ({ broker }) => broker.kill(),
    mend: ({ broker }) => broker.restart(),
  },
];

const VERIFIED_PORT = await freePort();

let ending = new AbortController();
/** Ends with the reason that is being tried. */
const underway = (): AbortSignal => ending.signal;

async function fire(reason: Reason, system: ObservedSystem, prometheus: Prometheus): Promise<readonly string[]> {
  ending = new AbortController();
  try {
    await reason.cause(system);
    const seen = new Set<string>();
    const missing = async () => {
      for (const name of await prometheus.firing()) seen.add(name);
      return reason.fires.filter((name) => !seen.has(name));
    };
    await expect.poll(missing, { timeout: 60_000 }).toEqual([]);
    return [];
  } catch (error) {
    console.log(String(error).split("\n", 1)[0]);
    const firing = await prometheus.firing();
    return reason.fires.filter((name) => !firing.has(name));
  } finally {
    ending.abort();
    await reason.mend?.(system);
  }
}

const missing = whyNoPrometheus();

test("each alert is caused here", () => {
  expect(reasons.flatMap(({ fires }) => fires).toSorted()).toEqual(alerts.map(({ name }) => name).toSorted());
});

test.skipIf(missing !== undefined)(
  `each alert fires in Prometheus when there is its reason, and each query of the dashboards had data by then${missing === undefined ? "" : ` (${missing})`}`,
  { timeout: 1_200_000 },
  async () => {
    await using system = await startObservedSystem();
    const targets = [
      ...system.targets,
      { job: "web-tools", address: `127.0.0.1:${VERIFIED_PORT}` },
      { job: "rabbitmq", address: await system.broker.metricsAddress() },
    ];
    await using prometheus = await startPrometheus(targets, await readFile(join(ROOT, "docker/observability/rules.yml"), "utf8"));
    await expect.poll(async () => (await prometheus.query("sum(up)"))[0]?.value, { timeout: 180_000 }).toBe(system.targets.length + 1);
    await expect.poll(() => system.call("web_browse", { url: `${system.pages.url}/quick` })).toBe(200);
    const silent: string[] = [];
    for (const reason of reasons) {
      const begun = performance.now();
      const without = await fire(reason, system, prometheus);
      silent.push(...without);
      console.log(
        `${Math.round((performance.now() - begun) / 1000)} s: ${reason.fires.join(", ")}${without.length === 0 ? "" : `: silent: ${without.join(", ")}`}`,
      );
    }

    const empty: string[] = [];
    for (const { where, expr } of (await readDashboards()).flatMap(queriesOf)) {
      if ((await prometheus.query(`count_over_time((${expr})[20m:10s])`)).length === 0) empty.push(where);
    }

    expect({ silent, empty }).toEqual({ silent: [], empty: [] });
  },
);
