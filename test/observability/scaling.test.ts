import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type NodeProgram, renderChart, startNodeProgram } from "@rockbot/testing";
import { expect, test } from "vitest";
import { helm, helmProgram } from "../deployment/render/profiles.ts";
import { startObservedSystem } from "./observed-system.ts";
import { startPrometheus, type Target, whyNoPrometheus } from "./prometheus.ts";

const ROOT = join(import.meta.dirname, "../..");
/** As many as the gateway runs at once, nearly. */
const BURST = 240;
const MAX_REPLICAS = 4;
/** The ports that replicas beside the first have: Prometheus has to know them beforehand. */
const ports = await Promise.all(Array.from({ length: MAX_REPLICAS - 1 }, freePort));
const missing = whyNoPrometheus() ?? ("why" in helm ? helm.why : undefined);
const named = (name: string): string => (missing === undefined ? name : `${name} (${missing})`);

test.skipIf(missing !== undefined).each([1, MAX_REPLICAS])(
  named("a burst loses and doubles no call while %i replicas serve it"),
  async (count) => {
    await using scene = await openScene();
    await scene.replicas.scaleTo(count);
    await expect.poll(async () => (await scene.prometheus.query('sum(up{job="web-tools"})'))[0]?.value).toBe(count);
    const begun = performance.now();
    let isOver = false;
    const calls = Promise.allSettled(Array.from({ length: BURST }, scene.call)).then((settled) => {
      isOver = true;
      return settled.flatMap((result) => (result.status === "rejected" ? String(result.reason) : []));
    });
    const seen: Asked[] = [];
    while (!isOver) {
      seen.push(await scene.ask(count));
      await sleep(1_000);
    }
    expect(await calls).toEqual([]);
    const most = (of: keyof Asked) => Math.max(...seen.map((asked) => asked[of]));
    const figures = {
      seconds: (performance.now() - begun) / 1_000,
      waiting: most("waiting"),
      oldestSeconds: most("oldestSeconds"),
      wanted: most("wanted"),
    };
    console.log(`${BURST} calls to ${count} replicas: ${JSON.stringify({ ...figures, atBroker: most("atBroker") })}`);

    expect(scene.faults()).toEqual([]);
    expect(figures.wanted).toBe(MAX_REPLICAS);
  },
);

test.skipIf(missing !== undefined)(
  named("a burst loses and doubles no call while replicas come and go by the scaler's queries"),
  async () => {
    await using scene = await openScene();
    const seen: Asked[] = [];
    /** True once the service has been scaled up, and down again to one. */
    const isOver = () => seen.at(-1)?.wanted === 1 && seen.some(({ wanted }) => wanted === MAX_REPLICAS);
    const trickle = async () => {
      while (!isOver()) await scene.call();
    };
    const calls = Promise.all([...Array.from({ length: BURST }, scene.call), trickle(), trickle()]);
    const until = performance.now() + 200_000;
    while (!isOver() && performance.now() < until) {
      const asked = await scene.ask(seen.at(-1)?.wanted ?? 1);
      await scene.replicas.scaleTo(asked.wanted);
      seen.push(asked);
      await sleep(1_000);
    }
    expect(isOver()).toBe(true);
    await calls;
    console.log(`while scaled: ${JSON.stringify(seen)}`);

    expect(scene.faults()).toEqual([]);
    expect(Math.max(...seen.map(({ atBroker }) => atBroker))).toBeGreaterThan(0);
  },
);

/** What a scaler learns at one time. */
interface Asked {
  readonly waiting: number;
  readonly oldestSeconds: number;
  /** Messages at the broker by its own management, as KEDA's scaler for RabbitMQ asks for them. */
  readonly atBroker: number;
  /** The replicas that follow. */
  readonly wanted: number;
}

/** web-tools as one process, a gateway, and a Prometheus that answers the queries of the chart's ScaledObject. */
async function openScene() {
  await using opening = new AsyncDisposableStack();
  const system = opening.use(await startObservedSystem({ only: ["web-tools", "gateway"] }));
  const further = ports.map((port): Target => ({ job: "web-tools", address: `127.0.0.1:${port}` }));
  const rules = await readFile(join(ROOT, "docker/observability/rules.yml"), "utf8");
  const prometheus = opening.use(await startPrometheus([...system.targets, ...further], rules));
  const [depth, age] = await scalerTriggers();
  await expect.poll(() => system.call("web_browse", { url: `${system.pages.url}/slow?warm` })).toBe(200);
  const replicas = opening.use(new Replicas(system.environments.get("web-tools") ?? {}));
  const answerTo = async ({ query }: Trigger) => (await prometheus.query(query))[0]?.value;
  await expect.poll(() => answerTo(depth)).toBe(0);
  const paths: string[] = [];
  const statuses: number[] = [];
  const parts = opening.move();
  return {
    prometheus,
    replicas,
    async call() {
      const path = `/slow?${paths.length}`;
      paths.push(path);
      statuses.push(await system.call("web_browse", { url: `${system.pages.url}${path}` }, { timeoutMs: 300_000 }));
    },
    /** @param current the replicas that run */
    async ask(current: number): Promise<Asked> {
      const [waiting = 0, oldestSeconds = 0] = await Promise.all([answerTo(depth), answerTo(age)]);
      // As a HorizontalPodAutoscaler computes it: of an average value, and of a value.
      const wanted = Math.max(
        Math.ceil(waiting / depth.threshold),
        Math.ceil((current * oldestSeconds) / age.threshold),
      );
      const atBroker = await messagesByManagement(await system.broker.managementUrl());
      return { waiting, oldestSeconds, atBroker, wanted: Math.min(MAX_REPLICAS, Math.max(1, wanted)) };
    },
    /** The calls that had no answer, and those that ran not at all or twice. */
    faults() {
      const reads = Map.groupBy(system.pages.requests, ({ path }) => path);
      return [...statuses.filter((status) => status !== 200), ...paths.filter((path) => reads.get(path)?.length !== 1)];
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

interface Trigger {
  readonly query: string;
  readonly threshold: number;
}

/** What the chart has KEDA ask for web-tools: how many requests wait, and how long the oldest. */
async function scalerTriggers(): Promise<readonly [depth: Trigger, age: Trigger]> {
  const monitoring = {
    prometheus: { address: "http://prometheus.example" },
    rules: { enabled: true },
    podMonitor: { enabled: true },
  };
  const objects = await renderChart(helmProgram, [], {
    webTools: { autoscaling: { kind: "keda", max: MAX_REPLICAS } },
    monitoring,
  });
  const scaled = objects.find(({ kind }) => kind === "ScaledObject") as unknown as {
    readonly spec: {
      readonly triggers: readonly { readonly metadata: { readonly query: string; readonly threshold: string } }[];
    };
  };
  const [depth, age] = scaled.spec.triggers.map(({ metadata: { query, threshold } }) => ({
    query,
    threshold: Number(threshold),
  }));
  if (depth === undefined || age === undefined)
    throw new Error("The chart's ScaledObject has no trigger by depth and by age");
  return [depth, age];
}

/** Processes beside the one that the system has. */
class Replicas implements AsyncDisposable {
  readonly #env: Readonly<Record<string, string>>;
  readonly #running: { readonly port: number; readonly program: NodeProgram }[] = [];
  readonly #ended: Promise<unknown>[] = [];

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  async scaleTo(count: number): Promise<void> {
    while (this.#running.length < count - 1) {
      const port = ports.find((free) => this.#running.every((it) => it.port !== free));
      if (port === undefined) return;
      const env = { ...this.#env, HEALTH_PORT: String(port), AUDIT_FILE: "" };
      this.#running.push({
        port,
        program: startNodeProgram(join(ROOT, "services/main.ts"), { args: ["web-tools"], env, cwd: ROOT }),
      });
    }
    while (this.#running.length > count - 1) {
      const { program } = this.#running.pop() as { readonly program: NodeProgram };
      program.kill("SIGTERM");
      this.#ended.push(program.ended);
      await program.ended; // its port is free again
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map(({ program }) => program[Symbol.asyncDispose]()));
    await Promise.all(this.#ended);
  }
}

/** All messages of the queue, handed out or not. */
async function messagesByManagement(management: string): Promise<number> {
  const { username, password, origin } = new URL(management);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const answer = await fetch(`${origin}/api/queues/%2F/rockbot.web-tools.v1`, { headers: { authorization } }).catch(
    () => undefined,
  ); // it may close a connection that was idle
  if (answer === undefined) return 0;
  return answer.ok ? (((await answer.json()) as { readonly messages?: number }).messages ?? 0) : 0;
}
