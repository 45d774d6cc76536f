import { randomBytes } from "node:crypto";
import { appendFile, readFile, rename, symlink, unlink, writeFile } from "node:fs/promises";
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
const { alerts } = parse(await readFile(join(ROOT, "helm/rockbot/files/alerts.yaml"), "utf8")) as {
  readonly alerts: readonly { readonly name: string }[];
};

/** What makes alerts fire, and mends it afterwards. */
interface Reason {
  /** Each alert by its name, with the labels that tell it from the same alert of another reason. */
  readonly fires: Readonly<Record<string, Readonly<Record<string, string>>>>;
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
function request(
  tool: string,
  args: object,
  id: string,
  more: { readonly expiration?: number; readonly headers?: Readonly<Record<string, unknown>> } = {},
) {
  const body = Buffer.from(
    JSON.stringify({ toolCallId: id, toolName: tool, arguments: JSON.stringify(args), sessionId: null }),
  );
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
/** The callers of the policy. */
const CALLERS = ["cli", "gateway", "scheduler", "agent"];

/** web-tools answers, and the gateway finds it. */
const untilServed = ({ call, pages }: ObservedSystem) =>
  expect.poll(() => call("web_browse", { url: `${pages.url}/quick` })).toBe(200);

const webTools = { job: "web-tools" };
const gateway = { job: "gateway" };
const scheduler = { job: "scheduler" };
/** A web-tools that one reason starts: its senders are verified. */
const verified = { job: "web-tools-verified" };

/** In this order, as some leave a share of failed calls behind that another would have to exceed. */
const reasons: readonly Reason[] = [
  {
    fires: { RockBotCallsTimeOut: gateway, RockBotGatewayErrors: gateway, RockBotDeadlinesShort: webTools },
    async cause({ call, pages }) {
      void repeat(underway(), () => call("web_browse", { url: `${pages.url}/silent` }, { timeoutMs: 400 }));
    },
  },
  {
    fires: { RockBotServiceDown: webTools, RockBotCallsUnavailable: gateway, RockBotScheduleFails: {} },
    async cause({ kill, call, pages }) {
      const task = { name: "often", cron: "*/5 * * * * *", description: "Say hello." };
      await expect.poll(() => call("schedule_task", task)).toBe(200);
      await kill("agent", "web-tools");
      void repeat(underway(), () => call("web_browse", { url: `${pages.url}/quick` }));
    },
    async mend(system) {
      await system.call("cancel_scheduled_task", { name: "often" });
      system.restart("agent", "web-tools");
      await untilServed(system);
    },
  },
  {
    fires: { RockBotMcpServerDown: { server: "system-info" } },
    async cause({ kill, call }) {
      await expect.poll(() => call("system-info__system_info", {})).toBe(200);
      await kill("system-info-mcp");
    },
    mend: async ({ restart }) => restart("system-info-mcp"),
  },
  {
    fires: { RockBotSandboxesFail: {} },
    async cause({ folder, call }) {
      await unlink(join(folder, "programs"));
      void repeat(underway(), () => call("execute_python_script", { script: "print(1)" }));
    },
  },
  {
    fires: {
      RockBotMessagesParked: { messaging_subscription: "web-tools" },
      RockBotParkedMessagesLie: { messaging_subscription: "web-tools" },
    },
    cause: ({ raw }) =>
      raw(async (channel) => {
        const { properties } = request("web_browse", {}, ids(1)[0] as string);
        channel.publish(EXCHANGE, "tool.invoke", Buffer.from("no request"), { ...properties, replyTo: "elsewhere" });
      }),
  },
  {
    fires: { RockBotCallersFlood: { kind: "unanswerable" } },
    cause: ({ raw }) =>
      raw(async (channel) => {
        for (const id of ids(40)) {
          const { properties } = request("web_browse", {}, id);
          channel.publish(EXCHANGE, "tool.invoke", Buffer.from("no request"), { ...properties, replyTo: "elsewhere" });
        }
      }),
  },
  {
    fires: { RockBotOutcomeUnknown: { job: "scripts-manager" } },
    cause: ({ raw }) =>
      raw(async (channel) => {
        const headers = { "x-rockbot-sent-before-ms": "3600000" };
        const { body, properties } = request("execute_python_script", { script: "print(1)" }, ids(1)[0] as string, {
          headers,
        });
        channel.publish(EXCHANGE, "script.invoke", body, properties);
      }),
  },
  {
    fires: { RockBotGatewayRefuses: {} },
    async cause({ call }) {
      void repeat(underway(), () =>
        Promise.all(Array.from({ length: 50 }, () => call("web_browse", {}, { token: "wrong" }))),
      );
    },
  },
  {
    fires: { RockBotPolicyDiffers: {} },
    cause: ({ folder }) => appendFile(join(folder, "policy.to-break.yaml"), "\nlegacyPeers: []\n"),
  },
  {
    fires: { RockBotPolicyRefused: scheduler },
    cause: ({ folder }) => writeFile(join(folder, "policy.to-break.yaml"), "callers: nonsense\n"),
  },
  {
    fires: { RockBotModelFails: { job: "agent" }, RockBotTurnsFail: {} },
    async cause({ call, model }) {
      await expect.poll(() => call("agent__chat", { message: "Hello" })).toBe(200);
      await model[Symbol.asyncDispose]();
      void repeat(underway(), () => call("agent__chat", { message: "Hello" }));
    },
  },
  {
    fires: { RockBotCallsFail: webTools },
    async cause({ call, pages }) {
      void repeat(underway(), () => call("web_browse", { url: `${pages.url}/broken` }));
    },
  },
  {
    fires: { RockBotToolListsMissing: gateway },
    async cause({ raw }) {
      const { type } = messages.ToolHeartbeat;
      const heartbeat = { service: "listless", instance: "a", epoch: 1, hash: "0123456789abcdef", pages: 1 };
      const envelope = createEnvelope({
        topic: "tool.announce.listless",
        type,
        source: "listless",
        body: encodeMessage("ToolHeartbeat", heartbeat),
      });
      void repeat(underway(), () =>
        raw(async (channel) => {
          channel.publish(EXCHANGE, envelope.topic, Buffer.from(envelope.body), toWire(envelope) as object);
        }),
      );
    },
  },
  {
    fires: { RockBotAuditFails: webTools },
    async cause({ folder, call, pages }) {
      await rename(join(folder, "audit.jsonl"), join(folder, "audit.aside.jsonl"));
      await symlink("/dev/full", join(folder, "audit.jsonl"));
      void repeat(underway(), () => call("web_browse", { url: `${pages.url}/quick` }));
    },
    mend: ({ folder }) => unlink(join(folder, "audit.jsonl")),
  },
  {
    fires: { RockBotSendersRefused: verified },
    async cause({ broker, folder }) {
      const [vhost, password] = ["verified", "of-web-tools"];
      await broker.ctl("add_vhost", vhost);
      await broker.ctl("add_user", "web-tools", password);
      for (const user of ["web-tools", "test"])
        await broker.ctl("set_permissions", "-p", vhost, user, ".*", ".*", ".*");
      const policy = (await readFile(join(folder, "policy.yaml"), "utf8")).replace(
        "identity: trusted",
        "identity: verified",
      );
      await writeFile(join(folder, "policy.verified.yaml"), policy);
      const url = new URL(broker.url);
      const own = `amqp://web-tools:${password}@${url.host}/${vhost}`;
      const process = startNodeProgram(join(ROOT, "services/main.ts"), {
        args: ["web-tools"],
        env: { BUS_URL: own, POLICY_FILE: join(folder, "policy.verified.yaml"), HEALTH_PORT: String(VERIFIED_PORT) },
      });
      onTestFinished(() => process[Symbol.asyncDispose]());
      const { connect } = await import("amqplib");
      await using closing = new AsyncDisposableStack();
      const connection = closing.adopt(await connect(`${broker.url}/${vhost}`), (it) => it.close());
      const channel = await connection.createConfirmChannel();
      channel.on("error", () => {});
      await expect
        .poll(() => broker.ctl("list_queues", "-q", "-p", vhost, "name", "consumers"))
        .toMatch(/rockbot\.web-tools\.v1\s+1/);
      await channel.bindQueue("rockbot.web-tools.v1", EXCHANGE, "tool.stolen");
      channel.publish(EXCHANGE, "tool.stolen", Buffer.from("{}"), { userId: "test" });
      await channel.waitForConfirms();
    },
  },
  {
    fires: { RockBotQueueGrows: { service: "web-tools" }, RockBotRequestsWait: { service: "web-tools" } },
    cause: ({ raw, pages }) =>
      raw(async (channel) => {
        for (const [index, id] of ids(800).entries()) {
          const headers = { "rb-source": CALLERS[index % CALLERS.length] }; // one alone may not have so many here
          const { body, properties } = request("web_browse", { url: `${pages.url}/silent?${index}` }, id, {
            expiration: 60_000,
            headers,
          });
          channel.publish(EXCHANGE, "tool.invoke", body, properties);
        }
      }),
    async mend(system) {
      await system.kill("web-tools"); // it would wait a minute for the pages that it reads
      await system.broker.ctl("purge_queue", "rockbot.web-tools.v1");
      system.restart("web-tools");
      await untilServed(system);
    },
  },
  {
    fires: { RockBotRedisDown: scheduler, RockBotClaimsUnavailable: scheduler },
    async cause({ redis, raw }) {
      await redis.kill();
      void repeat(underway(), () =>
        raw(async (channel) => {
          const { body, properties } = request(
            "schedule_task",
            { name: "task", cron: "0 0 1 1 *", description: "Nothing." },
            ids(1)[0] as string,
          );
          channel.publish(EXCHANGE, "tool.invoke.scheduler", body, properties);
        }),
      );
    },
    async mend({ redis, call }) {
      await redis.restart();
      await expect.poll(() => call("list_scheduled_tasks", {})).toBe(200);
    },
  },
  {
    fires: { RockBotMessagesDropped: { messaging_subscription: "web-tools" } },
    async cause({ raw, kill, restart, pages }) {
      await kill("web-tools");
      await raw(async (channel) => {
        // It expires while nobody is there, and is too large to be parked.
        const { body, properties } = request(
          "web_browse",
          { url: `${pages.url}/?${"x".repeat(1_100_000)}` },
          ids(1)[0] as string,
          { expiration: 1 },
        );
        channel.publish(EXCHANGE, "tool.invoke", body, properties);
      });
      restart("web-tools");
    },
    mend: untilServed,
  },
  {
    fires: { RockBotConnectionsFlap: gateway, RockBotCredentialsUnreadable: gateway },
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
    fires: { RockBotBrokerBlocked: {}, RockBotConfirmsSlow: {} },
    cause: ({ broker }) => broker.ctl("set_vm_memory_high_watermark", "0.00001").then(() => {}),
    mend: ({ broker }) => broker.ctl("set_vm_memory_high_watermark", "0.4").then(() => {}),
  },
  {
    fires: { RockBotBrokerConnectionDown: gateway, RockBotDiscoveryStale: gateway },
    cause: ({ broker }) => broker.kill(),
    mend: ({ broker }) => broker.restart(),
  },
];

const VERIFIED_PORT = await freePort();

let ending = new AbortController();
/** Ends with the reason that is being tried. */
const underway = (): AbortSignal => ending.signal;

/** Tries a reason. @returns its alerts that do not come of it: they stay silent, or fire before it */
async function fire(
  { fires, cause, mend }: Reason,
  system: ObservedSystem,
  prometheus: Prometheus,
): Promise<readonly string[]> {
  ending = new AbortController();
  const names = Object.keys(fires);
  const firing = async () => {
    const alerts = await prometheus.firing();
    const is = (name: string) =>
      alerts.some((labels) =>
        Object.entries({ alertname: name, ...fires[name] }).every(([label, value]) => labels[label] === value),
      );
    return names.filter(is);
  };
  const early = await firing();
  const seen = new Set<string>();
  try {
    await cause(system);
    const silent = async () => {
      for (const name of await firing()) seen.add(name);
      return names.filter((name) => !seen.has(name));
    };
    await expect.poll(silent, { timeout: 60_000 }).toEqual([]);
  } catch (error) {
    console.log(String(error).split("\n", 1)[0]);
  } finally {
    ending.abort();
    await mend?.(system);
  }
  return [
    ...early.map((name) => `${name} fires before its reason`),
    ...names.filter((name) => !seen.has(name)).map((name) => `${name} is silent`),
  ];
}

const missing = whyNoPrometheus();

test("each alert is caused here", () => {
  expect(reasons.flatMap(({ fires }) => Object.keys(fires)).toSorted()).toEqual(
    alerts.map(({ name }) => name).toSorted(),
  );
});

test.skipIf(missing !== undefined)(
  `each alert fires in Prometheus when there is its reason, and each query of the dashboards had data by then${missing === undefined ? "" : ` (${missing})`}`,
  { timeout: 1_200_000 },
  async () => {
    await using system = await startObservedSystem();
    const targets = [
      ...system.targets,
      { ...verified, address: `127.0.0.1:${VERIFIED_PORT}` },
      { job: "rabbitmq", address: await system.broker.metricsAddress() },
    ];
    await using prometheus = await startPrometheus(
      targets,
      await readFile(join(ROOT, "docker/observability/rules.yml"), "utf8"),
    );
    await expect
      .poll(async () => (await prometheus.query("sum(up)"))[0]?.value, { timeout: 180_000 })
      .toBe(system.targets.length + 1);
    await untilServed(system);
    const wrong: string[] = [];
    for (const reason of reasons) {
      const begun = performance.now();
      const found = await fire(reason, system, prometheus);
      wrong.push(...found);
      console.log(
        [`${Math.round((performance.now() - begun) / 1000)} s: ${Object.keys(reason.fires).join(", ")}`, ...found].join(
          ": ",
        ),
      );
    }

    const empty: string[] = [];
    for (const { where, expr } of (await readDashboards()).flatMap(queriesOf)) {
      if ((await prometheus.query(`count_over_time((${expr})[20m:10s])`)).length === 0) empty.push(where);
    }

    expect({ wrong, empty }).toEqual({ wrong: [], empty: [] });
  },
);
