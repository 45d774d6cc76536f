import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ToolError } from "@rockbot/contracts";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { services } from "../deployment/services.ts";
import { Cluster } from "./cluster.ts";
import { installRelease, testImages } from "./helm-release.ts";

const PER_SECOND = 100;
/** Of a call: longer than a pod takes to start on a small node that rolls everything out at once. */
const TIMEOUT_MS = 60_000;
const UNDISTURBED_MS = 3_000;
/** A kubelet writes a changed Secret into running pods once a minute. */
const ROTATED_MS = 180_000;
const upgraded = services.filter(({ name }) => ["scheduler", "gateway", "mcp-bridge", "system-info-mcp"].includes(name));

const policy = `
identity: verified
services:
  mcp-bridge: { topic: tool.invoke.mcp, tools: ["*__*"], owns: [mcp.manage, tool.meta.mcp.refresh] }
  scheduler: { topic: tool.invoke.scheduler, tools: [schedule_task, list_scheduled_tasks, cancel_scheduled_task] }
callers:
  gateway: { allow: ["*"] }
  scheduler: { allow: [agent__chat] }
  load: { allow: ["*"] }
delegates: [{ user: scheduler, for: [gateway, load] }, gateway]
operators: [{ name: operator, tokens: [] }]
`;

const valuesOf = ({ logLevel = "info", generation = 1 }): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(
    upgraded.map(({ name, key }) => [
      key,
      {
        image: testImages.of(name),
        replicas: name.endsWith("mcp") ? 1 : 2,
        settings: { logLevel },
        resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "384Mi" } },
      },
    ]),
  ),
  webTools: { enabled: false },
  scriptsManager: { enabled: false },
  rights: { image: testImages.of("cli") },
  policy: { text: policy },
  credentials: { generation },
});

test(`an upgrade, a roll-back, new credentials and killed pods cost no call its answer at ${PER_SECOND} calls/s, and run none twice`, {
  timeout: 1_200_000,
}, async () => {
  const cluster = await Cluster.open();
  await using namespace = await cluster.namespace("upgrade");
  await using release = await installRelease(cluster, { namespace: namespace.name, valuesFiles: ["values-dev.yaml"], values: valuesOf({}) });
  const passwordNow = async (): Promise<string> => (await cluster.secret(namespace.name, `${release.name}-passwords`))["load"] ?? "";
  await using port = await cluster.forward(namespace.name, `service/${release.name}-broker`, 5672);
  let password = await passwordNow();
  await using bus = await connectBus(() => `amqp://load:${password}@127.0.0.1:${port.port}`, { identity: "verified", name: "load" });
  await using caller = await createToolCaller(bus, { agent: "load" });
  await caller.discovered();

  await using load = startLoad(caller);
  const outcomes: Record<string, unknown> = {};
  const phase = async (name: string, disturb: () => Promise<unknown>): Promise<void> => {
    const before = load.report();
    await disturb();
    await sleep(UNDISTURBED_MS);
    outcomes[name] = load.report().calls - before.calls;
  };
  await phase("undisturbed", async () => {});
  await phase("upgrade", () => release.upgrade({ valuesFiles: ["values-dev.yaml"], values: valuesOf({ logLevel: "debug" }) }));
  await phase("roll-back", () => release.helm(["rollback", release.name, "1", "--wait", "--timeout", "240s"], 260_000));
  await phase("new credentials", async () => {
    await release.upgrade({ valuesFiles: ["values-dev.yaml"], values: valuesOf({ generation: 2 }) });
    const old = password;
    password = await passwordNow();
    expect(password).not.toBe(old);
    await reconnect(cluster, namespace.name, `${release.name}-broker-0`);
  });

  const { doubled, lost } = load.report(); // both tools may run again when their process dies
  expect({ doubled, lost }).toEqual({ doubled: 0, lost: 0 });
  await phase("killed pods", async () => {
    for (const { name } of upgraded) {
      const pods = (await cluster.kubectl(["--namespace", namespace.name, "get", "pods", "--selector", `app.kubernetes.io/name=${name}`, "--output", "name"]))
        .trim()
        .split("\n");
      await cluster.kubectl(["--namespace", namespace.name, "delete", pods[0] ?? "", "--grace-period=0", "--force"]);
      await cluster.kubectl(["--namespace", namespace.name, "rollout", "status", `deployment/${release.name}-${name}`, "--timeout=120s"], {
        timeoutMs: 130_000,
      });
    }
  });

  const { calls, failed } = await load.stop();
  console.log(JSON.stringify({ calls, failed, doubled, lost, ...outcomes }));
  expect(failed).toEqual({});
  expect(calls).toBeGreaterThan(1_000);
});

/** Has the broker close all connections, once pods have the new files, and waits until the scheduler is there again by what its file says now. */
async function reconnect(cluster: Cluster, namespace: string, broker: string): Promise<void> {
  const end = performance.now() + ROTATED_MS;
  const rabbitmqctl = (...args: readonly string[]): Promise<string> => cluster.exec(namespace, broker, ["rabbitmqctl", "-q", ...args]);
  const connectionsOf = async (user: string) => (await rabbitmqctl("list_connections", "user")).split("\n").filter((line) => line === user).length;
  const starts = await startsOf(cluster, namespace);
  await sleep(ROTATED_MS / 2);
  await rabbitmqctl("close_all_connections", "the drill");
  await expect.poll(() => connectionsOf("scheduler"), { timeout: end - performance.now() }).toBeGreaterThanOrEqual(4);
  expect(await startsOf(cluster, namespace)).toEqual(starts); // no pod was started anew
}

/** Each pod of the services, with how often its container was started. */
async function startsOf(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  const path = '{range .items[*]}{.metadata.name} {.status.containerStatuses[0].restartCount}{"\\n"}{end}';
  const text = await cluster.kubectl([
    "--namespace",
    namespace,
    "get",
    "pods",
    "--selector",
    "app.kubernetes.io/component=service",
    "--output",
    `jsonpath=${path}`,
  ]);
  return text.trim().split("\n").sort();
}

interface LoadReport {
  readonly calls: number;
  readonly failed: Readonly<Record<string, number>>;
  /** Tasks that were there before: their call has run before. */
  readonly doubled: number;
  /** Tasks that were not there although their call was answered. */
  readonly lost: number;
}

/** Schedules tasks, each of its own name, and cancels each. A call that ran twice finds its own task, one whose effect was lost leaves none to cancel. */
function startLoad(caller: ToolCaller) {
  const stop = new AbortController();
  const out = new Set<Promise<void>>();
  const failed: Record<string, number> = {};
  let calls = 0;
  let doubled = 0;
  let lost = 0;
  const call = async (tool: string, input: object): Promise<Record<string, unknown> | undefined> => {
    calls++;
    try {
      const { structured } = await caller.call(tool, input, { timeoutMs: TIMEOUT_MS });
      return structured as Record<string, unknown>;
    } catch (error) {
      const why = error instanceof ToolError ? `${error.code}: ${error.message}` : String(error);
      failed[why] = (failed[why] ?? 0) + 1;
      return undefined;
    }
  };
  const job = async (number: number): Promise<void> => {
    const name = `task-${number}`;
    const scheduled = await call("schedule_task", { name, cron: "0 0 1 1 *", description: "Nothing." });
    if (scheduled?.["replaced"] === true) doubled++;
    if (scheduled === undefined) return;
    const cancelled = await call("cancel_scheduled_task", { name });
    if (cancelled?.["cancelled"] === false) lost++;
  };
  const run = (async () => {
    for (let number = 0; !stop.signal.aborted; number++) {
      const one = job(number);
      out.add(one);
      void one.finally(() => out.delete(one));
      await sleep(2_000 / PER_SECOND);
    }
  })();
  const report = (): LoadReport => ({ calls, failed, doubled, lost });
  const end = async (): Promise<LoadReport> => {
    stop.abort();
    await run;
    await Promise.all(out);
    return report();
  };
  return { report, stop: end, [Symbol.asyncDispose]: async () => void (await end()) };
}
