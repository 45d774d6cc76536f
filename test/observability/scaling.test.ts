import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type NodeProgram, startNodeProgram } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startObservedSystem } from "./observed-system.ts";
import { startPrometheus, type Target, whyNoPrometheus } from "./prometheus.ts";

const ROOT = join(import.meta.dirname, "../..");
/** As many as the gateway runs at once, nearly. */
const BURST = 240;
const TARGET_PER_REPLICA = 20;
const MAX_REPLICAS = 4;
/** The ports that replicas beside the first have: Prometheus has to know them beforehand. */
const ports = await Promise.all(Array.from({ length: MAX_REPLICAS - 1 }, freePort));
const missing = whyNoPrometheus();

test.skipIf(missing !== undefined)(
  `a burst loses and doubles no call while replicas come and go by the scaler's query${missing === undefined ? "" : ` (${missing})`}`,
  async () => {
    await using system = await startObservedSystem({ only: ["web-tools", "gateway"] });
    const further = ports.map((port): Target => ({ job: "web-tools", address: `127.0.0.1:${port}` }));
    await using prometheus = await startPrometheus([...system.targets, ...further], await readFile(join(ROOT, "docker/observability/rules.yml"), "utf8"));
    await expect.poll(() => system.call("web_browse", { url: `${system.pages.url}/slow?warm` })).toBe(200);
    await using replicas = new Replicas(system.environments.get("web-tools") ?? {});
    const depth = async () => (await prometheus.query('sum(rockbot_queue_messages{service="web-tools"})'))[0]?.value;
    await expect.poll(depth).toBe(0);

    const paths: string[] = [];
    const statuses: number[] = [];
    const call = async () => {
      const path = `/slow?${paths.length}`;
      paths.push(path);
      statuses.push(await system.call("web_browse", { url: `${system.pages.url}${path}` }, { timeoutMs: 300_000 }));
    };
    const seen: { readonly waiting: number; readonly replicas: number; readonly atBroker: number }[] = [];
    /** Whether the service has been scaled up, and down again to one. */
    const isOver = () => seen.at(-1)?.replicas === 1 && seen.some(({ replicas: count }) => count === MAX_REPLICAS);
    const trickle = async () => {
      while (!isOver()) await call();
    };
    const calls = Promise.all([...Array.from({ length: BURST }, call), trickle(), trickle()]);
    const until = performance.now() + 200_000;
    while (!isOver() && performance.now() < until) {
      const waiting = (await depth()) ?? 0;
      // As a HorizontalPodAutoscaler computes it of an average value, with at least one.
      const wanted = Math.min(MAX_REPLICAS, Math.max(1, Math.ceil(waiting / TARGET_PER_REPLICA)));
      await replicas.scaleTo(wanted);
      seen.push({ waiting, replicas: wanted, atBroker: await messagesByManagement(await system.broker.managementUrl()) });
      await sleep(1_000);
    }
    expect(isOver()).toBe(true);
    await calls;
    const reads = Map.groupBy(system.pages.requests, ({ path }) => path);
    console.log(`${paths.length} calls: ${JSON.stringify(seen)}`);

    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(paths.filter((path) => reads.get(path)?.length !== 1)).toEqual([]);
    expect(Math.max(...seen.map(({ atBroker }) => atBroker))).toBeGreaterThan(TARGET_PER_REPLICA);
  },
);

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
      this.#running.push({ port, program: startNodeProgram(join(ROOT, "services/main.ts"), { args: ["web-tools"], env, cwd: ROOT }) });
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

/** What KEDA's scaler for RabbitMQ asks: all messages of the queue, handed out or not. */
async function messagesByManagement(management: string): Promise<number> {
  const { username, password, origin } = new URL(management);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const answer = await fetch(`${origin}/api/queues/%2F/rockbot.web-tools.v1`, { headers: { authorization } }).catch(() => undefined); // it may close a connection that was idle
  if (answer === undefined) return 0;
  return answer.ok ? (((await answer.json()) as { readonly messages?: number }).messages ?? 0) : 0;
}
