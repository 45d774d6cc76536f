import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { verifyAudit } from "@rockbot/records/audit";
import { ageClaims } from "@rockbot/records/claims/age";
import { startOwnRedis, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startOtlpSink } from "../bench/place/otlp-sink.ts";
import { seededRandom } from "../broker/seeded-random.ts";
import { startVerifiedBroker } from "../broker/verified-broker.ts";
import type { RunningProcess } from "../services/start-service.ts";
import { tally } from "./agent/settle-calls.ts";
import { agentReport, startAgent } from "./agent/start-agent.ts";
import { createLedgerFile } from "./effects/ledger-file.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record, seed } from "./figures.ts";

const PER_SECOND = 200;
const TIMEOUT_MS = 30_000;
const STOPS = atScale(3, 60);
/** The time from the beginning of one stop to that of the next. */
const EVERY_MS = Math.max(6_000, Math.round(60_000 * Number(process.env["ROCKBOT_FAULTS_PART"] ?? 0)));
const MAX_STOP_MS = atScale(2_500, 10_000);
/**
 * A process that stands still for longer may find its connection closed: the broker gives up on one that misses two
 * heartbeats of five seconds.
 */
const HEARTBEATS_MS = 9_000;
const SERVICE = "everything";
const AGENT = "everything-agent";
/** Counted, and not reached: an agent that stood still makes all its calls of that time at once. */
const MAX_PER_SECOND = 10 * PER_SECOND * Math.ceil(MAX_STOP_MS / 1_000);
const POLICY = `
identity: verified
services:
  ${SERVICE}: { topic: tool.invoke.${SERVICE}, tools: ["*_${SERVICE}"] }
callers:
  ${AGENT}: { allow: ["*_${SERVICE}"], limits: { callsPerSecond: ${MAX_PER_SECOND}, inFlight: 10000 } }
`;

// Long because: it is one run, set up from top to bottom, and what it must have shown
test(`${PER_SECOND} calls a second with everything on, while one process after the other is stopped ${STOPS} times: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: STOPS * EVERY_MS + 120_000,
}, async () => {
  await using broker = await startVerifiedBroker(POLICY);
  await using redis = await startOwnRedis();
  await using collector = await startOtlpSink();
  await using ledger = await createLedgerFile();
  using folder = temporaryFolder();
  const policyFile = join(folder.path, "policy.yaml");
  await writeFile(policyFile, POLICY);
  await ageClaims(redis.url, SERVICE);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const store = { url: redis.url, prefix: SERVICE };
  const auditFiles = ["one", "two"].map((name) => join(folder.path, `${name}.jsonl`));
  const start = (auditFile: string) =>
    startEffectService(
      {
        busUrl: broker.urlOf(SERVICE),
        service: SERVICE,
        ledger: ledger.path,
        redis: store,
        deployed: { policyFile, auditFile },
      },
      [],
      env,
    );
  await using one = await start(auditFiles[0] ?? "");
  await using two = await start(auditFiles[1] ?? "");
  await using agent = startAgent(
    {
      busUrl: broker.urlOf(AGENT),
      agent: AGENT,
      tool: `effect_${SERVICE}`,
      prefix: "call",
      perSecond: PER_SECOND,
      timeoutMs: TIMEOUT_MS,
      maxCallsInFlight: 10_000,
      deployed: { policyFile, redis: store },
    },
    [],
    env,
  );
  const effects = async (): Promise<number> => (await ledger.count("effect")).size;
  await expect.poll(effects, { timeout: 30_000 }).toBeGreaterThan(PER_SECOND / 2);

  const processes: Readonly<Record<string, RunningProcess>> = {
    "one service": one,
    "the other service": two,
    "the agent": agent,
  };
  const targets: Readonly<Record<string, { stop(): Promise<void>; goOn(): Promise<void> }>> = {
    ...Object.fromEntries(
      Object.entries(processes).map(([name, running]) => [
        name,
        { stop: async () => running.kill("SIGSTOP"), goOn: async () => running.kill("SIGCONT") },
      ]),
    ),
    "the broker": { stop: () => broker.pause(), goOn: () => broker.resume() },
    Redis: { stop: () => redis.pause(), goOn: () => redis.resume() },
  };
  const reconnects = (to: "the broker" | "Redis"): number =>
    Object.values(processes).reduce(
      (sum, running) => sum + running.stderr().split(`no connection to ${to}`).length - 1,
      0,
    );
  const random = seededRandom(seed);
  const surprising: string[] = [];
  const names = Object.keys(targets);
  for (let stop = 0; stop < STOPS; stop++) {
    const next = sleep(EVERY_MS);
    const name = names[Math.floor(random() * names.length)] ?? "";
    const ms = 1_000 + Math.floor(random() * (MAX_STOP_MS - 1_000));
    const before = { broker: reconnects("the broker"), redis: reconnects("Redis") };
    await targets[name]?.stop();
    await sleep(ms); // the stop itself is under test
    await targets[name]?.goOn();
    const done = await effects();
    await expect.poll(effects, { timeout: 30_000 }).toBeGreaterThan(done + PER_SECOND); // calls flow again
    await next;
    const toBroker = name === "the broker" || ms > HEARTBEATS_MS ? 0 : reconnects("the broker") - before.broker;
    const toRedis = name === "Redis" ? 0 : reconnects("Redis") - before.redis;
    if (toBroker + toRedis > 0)
      surprising.push(`${toBroker} to the broker and ${toRedis} to Redis after ${name} stood still for ${ms} ms`);
  }

  agent.kill("SIGTERM");
  const { settled } = await agentReport(agent);
  const counted = await ledger.count("effect");
  const figures = tally(settled, counted);
  await record({
    fault: "everything on",
    done: `${settled.length} calls at ${PER_SECOND}/s with policy, audit, verified senders, Redis and traces; ${STOPS} stops of a random process of up to ${MAX_STOP_MS} ms`,
    figures: {
      ...figures,
      "reconnects to the broker": reconnects("the broker"),
      "reconnects to Redis": reconnects("Redis"),
      "not excused": surprising.length,
    },
  });
  expect(figures).toMatchObject({ lost: 0, "doubled effects": 0, crossed: 0, late: 0 });
  expect(surprising).toEqual([]);
  // What is refused is refused before it starts, or its outcome is unknown; the rest is answered.
  const others = settled.filter(
    ({ outcome }) => !["ok", "unavailable", "outcome_unknown", "overloaded"].includes(outcome),
  );
  expect(others.slice(0, 3)).toEqual([]);
  expect(settled.filter(({ id, outcome }) => outcome === "ok" && !counted.has(id))).toEqual([]);
  await Promise.all([one, two].map((running) => running[Symbol.asyncDispose]()));
  for (const file of auditFiles) expect((await verifyAudit([file])).faults).toEqual([]);
});
