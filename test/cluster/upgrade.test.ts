import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ToolError } from "@rockbot/contracts";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { services } from "../deployment/services.ts";
import { Cluster, type OwnNamespace } from "./cluster.ts";
import { type HelmRelease, type InstallReleaseOptions, installRelease, testImages } from "./helm-release.ts";
import { type OwnVolumes, ownVolumes } from "./own-volumes.ts";

const PER_SECOND = 100;
/** The timeout of a call: longer than a pod takes to start on a small node that rolls everything out at once. */
const TIMEOUT_MS = 60_000;
/** The calls of a job of the load, on average. */
const CALLS_OF_JOB = 2.1;
/** Under way at a time: a caller may have 256 calls without an answer. */
const MAX_JOBS = 200;
/** The codes of calls that were not begun, or may have run: both tools may be called again. */
const REFUSALS_CODES: ReadonlySet<string> = new Set(["unavailable", "outcome_unknown"]);
/** How often such a call is made again, and after which time. */
const [REFUSALS, REFUSED_PAUSE_MS] = [60, 1_000];
/** What is answered after each disturbance, before the next. */
const UNDISTURBED_ANSWERS = 300;
/** A kubelet writes a changed Secret into running pods after a minute or two. */
const ROTATED_MS = 240_000;
const upgraded = services.filter(({ name }) =>
  ["scheduler", "gateway", "mcp-bridge", "system-info-mcp"].includes(name),
);

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

const valuesOf = (
  { logLevel = "info", generation = 1 },
  { className, size }: OwnVolumes,
): Pick<InstallReleaseOptions, "values" | "valuesFiles"> => ({
  valuesFiles: ["values-dev.yaml"],
  values: {
    ...Object.fromEntries(
      upgraded.map(({ name, key }) => [
        key,
        {
          image: testImages.of(name),
          replicas: name.endsWith("mcp") ? 1 : 2,
          settings: { logLevel, ...(name === "scheduler" ? { maxTasks: 1_000 } : {}) },
          resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "384Mi" } },
        },
      ]),
    ),
    webTools: { enabled: false },
    scriptsManager: { enabled: false },
    rights: { image: testImages.of("cli") },
    policy: { text: policy },
    credentials: { generation },
    broker: { storage: { kind: "claim", className, size } },
    redis: { storage: { kind: "claim", className, size } },
  },
});

/** What a killed Redis with `appendfsync everysec` may have confirmed and not written. */
const REDIS_MAY_LOSE_S = 2;

const cluster = await Cluster.open();
const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());

describe("a release whose data stays", () => {
  let namespace: OwnNamespace;
  let release: HelmRelease;
  let volumes: OwnVolumes;

  beforeAll(async () => {
    volumes = made.use(await ownVolumes(cluster, 2));
    namespace = made.use(await cluster.namespace("upgrade"));
    release = made.use(await installRelease(cluster, { namespace: namespace.name, ...valuesOf({}, volumes) }));
  });

  const ask = (...args: readonly string[]): Promise<string> =>
    cluster.kubectl(["--namespace", namespace.name, ...args], { timeoutMs: 190_000 });

  test(`an upgrade, a roll-back, new credentials and killed pods cost no call its effect at ${PER_SECOND} calls/s, and double none`, {
    timeout: 900_000,
  }, async () => {
    const passwordNow = async (): Promise<string> =>
      (await cluster.secret(namespace.name, `${release.name}-passwords`))["load"] ?? "";
    await using port = await cluster.forward(namespace.name, `service/${release.name}-broker`, 5672);
    let password = await passwordNow();
    await using bus = await connectBus(() => `amqp://load:${password}@127.0.0.1:${port.port}`, {
      identity: "verified",
      name: "load",
    });
    await using caller = await createToolCaller(bus, { agent: "load" });
    await caller.discovered();

    await using load = startLoad(caller);
    const calls: Record<string, number> = {};
    const phase = async (name: string, disturb: () => Promise<unknown>): Promise<void> => {
      const before = load.report();
      await disturb();
      const wanted = load.report().answered + UNDISTURBED_ANSWERS;
      await expect.poll(() => load.report().answered, { timeout: TIMEOUT_MS }).toBeGreaterThanOrEqual(wanted);
      calls[name] = load.report().calls - before.calls;
    };
    await phase("undisturbed", async () => {});
    await phase("upgrade", () => release.upgrade(valuesOf({ logLevel: "debug" }, volumes)));
    await phase("roll-back", () =>
      release.helm(["rollback", release.name, "1", "--wait", "--timeout", "240s"], 260_000),
    );
    await phase("new credentials", async () => {
      await release.upgrade(valuesOf({ generation: 2 }, volumes));
      const old = password;
      password = await passwordNow();
      expect(password).not.toBe(old);
      await reconnect(namespace.name, release.name);
    });
    const { again, unmade, refused } = load.report();
    expect({ again, unmade, refused, ...load.faults() }).toEqual({
      again: 0,
      unmade: 0,
      refused: 0,
      failed: {},
      unseen: [],
    });

    for (const { name } of upgraded)
      await phase(`killed ${name}`, () =>
        killOne(ask, `deployment/${release.name}-${name}`, ["--grace-period=0", "--force"]),
      );
    // What it holds may not be opened twice: its kubelet ends it after a second, and then there is another.
    await phase("killed broker", () => killOne(ask, `statefulset/${release.name}-broker`, ["--grace-period=1"]));
    expect(load.faults()).toEqual({ failed: {}, unseen: [] });
    await phase("killed redis", () => killOne(ask, `statefulset/${release.name}-redis`, ["--grace-period=1"]));

    const report = await load.stop();
    console.log(JSON.stringify({ ...report, ...calls }));
    expect(report.calls).toBeGreaterThan(1_000);
    const { failed, unseen } = load.faults();
    expect(failed).toEqual({});
    // It writes its file behind a write that it waits for, up to two seconds later: docs/operate/cluster.md says so.
    expect(unseen.length).toBeLessThan(REDIS_MAY_LOSE_S * PER_SECOND);
    // Each was cancelled, and no call has made one a second time since.
    const left = async () =>
      (await caller
        .call("list_scheduled_tasks", {}, { timeoutMs: TIMEOUT_MS })
        .catch((error: Error) => error)) as object;
    await expect.poll(left).toMatchObject({ structured: { tasks: [] } });
  });

  test("after its uninstall there are its claims and the Secrets that its notes name, and the command of the notes removes them", async () => {
    const notes = await release.helm(["get", "notes", release.name]);
    const kinds =
      "deployments,statefulsets,jobs,pods,services,configmaps,secrets,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets,persistentvolumeclaims";
    const left = async () =>
      (await ask("get", kinds, "--selector", `app.kubernetes.io/instance=${release.name}`, "--output", "name"))
        .split("\n")
        .filter((line) => line !== "");
    const named = [...notes.matchAll(/^ *- (the claims of|Secret) (\S+)$/gm)].map(([, what, name]) =>
      what === "Secret" ? `secret/${name}` : `persistentvolumeclaim/data-${name}-0`,
    );
    expect(named).toHaveLength(6);

    await release.helm(["uninstall", release.name, "--wait", "--timeout", "120s"], 130_000);
    await expect.poll(async () => (await left()).sort()).toEqual(named.sort());
    const [, command = ""] = /^ *To remove these, too: kubectl (.+)$/m.exec(notes) ?? [];
    await cluster.kubectl(command.split(" "));
    await expect.poll(left).toEqual([]);
  });
});

type Ask = (...args: readonly string[]) => Promise<string>;

/** Has the first pod of a workload go, and waits until all are there again. */
async function killOne(ask: Ask, workload: string, how: readonly string[]): Promise<void> {
  const labels = JSON.parse(
    await ask("get", workload, "--output", "jsonpath={.spec.selector.matchLabels}"),
  ) as Readonly<Record<string, string>>;
  const selector = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const [pod = ""] = (await ask("get", "pods", "--selector", selector.join(","), "--output", "name")).split("\n");
  await ask("delete", pod, ...how);
  await ask("rollout", "status", workload, "--timeout=180s");
}

/**
 * Has the broker close all connections, once pods have the new files, and waits until services are there again by what
 * those say.
 */
async function reconnect(namespace: string, release: string): Promise<void> {
  const rabbitmqctl = (...args: readonly string[]): Promise<string> =>
    cluster.exec(namespace, `${release}-broker-0`, ["rabbitmqctl", "-q", ...args]);
  const connectionsOf = async (user: string) =>
    (await rabbitmqctl("list_connections", "user")).split("\n").filter((line) => line === user).length;
  const starts = await startsOf(namespace);
  const credentials = await cluster.secret(namespace, `${release}-credentials`);
  const pods = starts.map((line) => line.split(" ") as [name: string, service: string]);
  const staleFiles = async (): Promise<readonly string[]> => {
    const read = pods.map(async ([pod, service]) => {
      const program = 'console.log(require("node:fs").readFileSync("/etc/rockbot/secrets/BUS_URL", "utf8"))';
      const wanted = credentials[`${service}.BUS_URL`];
      return wanted === undefined || (await cluster.exec(namespace, pod, ["node", "--eval", program])).trim() === wanted
        ? []
        : [pod];
    });
    return (await Promise.all(read)).flat();
  };
  await expect.poll(staleFiles, { timeout: ROTATED_MS, interval: 2_000 }).toEqual([]);
  await rabbitmqctl("close_all_connections", "the drill");
  await expect.poll(() => connectionsOf("scheduler"), { timeout: ROTATED_MS }).toBeGreaterThanOrEqual(4);
  expect(await startsOf(namespace)).toEqual(starts); // no pod was started anew
}

/** Each pod of the services, with its service, and how often its container was started. */
async function startsOf(namespace: string): Promise<readonly string[]> {
  const columns =
    '{.metadata.name} {.metadata.labels.app\\.kubernetes\\.io/name} {.status.containerStatuses[0].restartCount}{"\\n"}';
  const args = [
    "get",
    "pods",
    "--selector",
    "app.kubernetes.io/component=service",
    "--output",
    `jsonpath={range .items[*]}${columns}{end}`,
  ];
  return (await cluster.kubectl(["--namespace", namespace, ...args])).trim().split("\n").sort();
}

interface LoadReport {
  readonly calls: number;
  readonly answered: number;
  /**
   * Tasks that were there before: their call has run before. It may, where a service died over it, as that makes the
   * same task.
   */
  readonly again: number;
  /** Cancelled tasks that were not there. This may happen where a service died, too. */
  readonly unmade: number;
  /** Calls that ended in one of REFUSALS_CODES, and were made again. */
  readonly refused: number;
}

interface LoadFaults {
  /** Calls that have ended otherwise. */
  readonly failed: Readonly<Record<string, number>>;
  /** Tasks that were not listed although their call was answered. */
  readonly unseen: readonly string[];
}

/** Schedules tasks, each of its own name, lists one of ten, and cancels each. */
function startLoad(caller: ToolCaller) {
  const stop = new AbortController();
  const out = new Set<Promise<void>>();
  const failed: Record<string, number> = {};
  const unseen: string[] = [];
  const counts = { calls: 0, answered: 0, again: 0, unmade: 0, refused: 0 };
  const call = async (
    tool: string,
    input: object,
    refusalsLeft = REFUSALS,
  ): Promise<Record<string, unknown> | undefined> => {
    counts.calls++;
    try {
      const { structured } = await caller.call(tool, input, { timeoutMs: TIMEOUT_MS });
      counts.answered++;
      return structured as Record<string, unknown>;
    } catch (error) {
      if (error instanceof ToolError && REFUSALS_CODES.has(error.code) && refusalsLeft > 0) {
        counts.refused++;
        await sleep(REFUSED_PAUSE_MS);
        return await call(tool, input, refusalsLeft - 1);
      }
      const why = error instanceof ToolError ? `${error.code}: ${error.message}` : String(error);
      failed[why] = (failed[why] ?? 0) + 1;
      return undefined;
    }
  };
  const job = async (number: number): Promise<void> => {
    const name = `task-${number}`;
    const scheduled = await call("schedule_task", { name, cron: "0 0 1 1 *", description: "Nothing." });
    if (scheduled?.["replaced"] === true) counts.again++;
    if (scheduled === undefined) return;
    const listed = number % 10 === 0 ? await call("list_scheduled_tasks", {}) : undefined;
    const isSeen =
      listed === undefined ||
      (listed["tasks"] as readonly { readonly name: string }[]).some((task) => task.name === name);
    if (!isSeen) unseen.push(name);
    const cancelled = await call("cancel_scheduled_task", { name });
    if (cancelled?.["cancelled"] === false) counts.unmade++;
  };
  const run = (async () => {
    for (let number = 0; !stop.signal.aborted; number++) {
      while (out.size >= MAX_JOBS) await Promise.race(out); // a machine that cannot keep up gets no more
      const one = job(number);
      out.add(one);
      void one.finally(() => out.delete(one));
      await sleep((1_000 * CALLS_OF_JOB) / PER_SECOND);
    }
  })();
  const report = (): LoadReport => ({ ...counts });
  const end = async (): Promise<LoadReport> => {
    stop.abort();
    await run;
    await Promise.all(out);
    return report();
  };
  return {
    report,
    faults: (): LoadFaults => ({ failed, unseen }),
    stop: end,
    [Symbol.asyncDispose]: async () => void (await end()),
  };
}
