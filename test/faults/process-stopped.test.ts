import { setTimeout as sleep } from "node:timers/promises";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { RunningProcess } from "../services/start-service.ts";
import { countOutcomes, settleCall, tally } from "./agent/settle-calls.ts";
import { agentReport, startAgent } from "./agent/start-agent.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { record } from "./figures.ts";
import { openScene } from "./scene.ts";

const PER_SECOND = 100;
/** The busy time of each call: a stopped process that waits for its sockets reads them first anyway. */
const BUSY_MS = 6;
const CALM_MS = 700;
/**
 * The longest is longer than the broker waits for a heartbeat by default: these processes have asked it for more
 * patience.
 */
const STOPS_MS = [1_000, 2_500, 10_000];
const HEARTBEAT_SECONDS = 15;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test("processes that are stopped under load for up to 10 s keep their connections, and no call is harmed", {
  timeout: 120_000,
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  await using service = await startEffectService({ ...scene.service, heartbeatSeconds: HEARTBEAT_SECONDS });
  await using agent = startAgent({
    busUrl,
    agent: `stopped-${scene.service.service}`,
    tool: scene.tool("effect"),
    prefix: "call",
    perSecond: PER_SECOND,
    timeoutMs: 30_000,
    blockMs: BUSY_MS,
    callers: 4,
    heartbeatSeconds: HEARTBEAT_SECONDS,
  });
  const effects = async (): Promise<number> => (await scene.ledger.count("effect")).size;
  await expect.poll(effects, { timeout: 20_000 }).toBeGreaterThan(PER_SECOND / 2);

  const stop = async (stopped: readonly RunningProcess[], ms: number): Promise<void> => {
    for (const one of stopped) one.kill("SIGSTOP");
    await sleep(ms); // the stop itself is under test
    for (const one of stopped) one.kill("SIGCONT");
    const before = await effects();
    await expect.poll(effects, { timeout: 20_000 }).toBeGreaterThan(before + (CALM_MS / 1_000) * PER_SECOND); // the load runs undisturbed again
  };
  for (const ms of STOPS_MS) await stop(ms > 5_000 ? [service, agent] : [service], ms);
  for (const ms of STOPS_MS) if (ms < 5_000) await stop([agent], ms);

  agent.kill("SIGTERM");
  const { settled } = await agentReport(agent);
  const figures = tally(settled, await scene.ledger.count("effect"));
  const reconnects = [service, agent].map((one) => one.stderr().split("no connection to").length - 1);
  await record({
    fault: "stopped",
    done: `${settled.length} calls at ${PER_SECOND}/s while their service or agent is stopped for ${STOPS_MS.join(", ")} ms`,
    figures: { ...figures, reconnects: reconnects.reduce((sum, count) => sum + count) },
  });
  expect(`${service.stderr()}${agent.stderr()}`).not.toContain("no connection to");
  expect(countOutcomes(settled)).toEqual({ ok: settled.length });
  expect(figures).toMatchObject({ lost: 0, "doubled effects": 0, crossed: 0, late: 0 });
});

test("an answer that came in time is taken although its caller stood still past its deadline", {
  timeout: 60_000,
}, async () => {
  await using scene = await openScene(busUrl);
  const { caller, ledger } = scene;
  await using _service = await startEffectService(scene.service);
  await caller.discovered();
  const call = settleCall(caller, scene.tool("effect"), { id: "one", holdMs: 1_000 }, { timeoutMs: 6_000 });
  const deadline = performance.now() + 6_000;
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 5_000, interval: 10 }).toBe(1);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, deadline + 500 - performance.now()); // nothing runs in this process meanwhile
  expect(await call).toMatchObject({ outcome: "ok", isLate: false });
});
