import { type ConnectBusOptions, connectBus } from "@rockbot/bus-rabbitmq";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { openRawChannel } from "../broker/raw-channel.ts";
import type { RunningProcess } from "../services/start-service.ts";
import { brokenRules, summary } from "./effects/ledger.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { startLoad } from "./load.ts";
import { openScene } from "./scene.ts";

const PER_SECOND = 100;
const ROUNDS = atScale(1, 5);
type QueueVersions = NonNullable<ConnectBusOptions["queueVersions"]>;
const OLD: QueueVersions = { current: 1, retired: [] };
const NEW: QueueVersions = { current: 2, retired: [1] };
/** A release looks at the queues every 5 to 10 s. */
const MOVED_WITHIN = { timeout: 30_000, interval: 200 };
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test(`F38: ${ROUNDS} upgrades to a release with another queue, and as many roll-backs, at ${PER_SECOND} calls/s cost no call its answer`, {
  timeout: 60_000 + ROUNDS * 120_000,
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl, queueVersions: NEW });
  await using raw = await openRawChannel(busUrl);
  await using oldCaller = await connectBus(busUrl, { queueVersions: OLD });
  await using services = new AsyncDisposableStack();
  const { service } = scene.service;
  const queue = (version: number) => `rockbot.${service}.v${version}`;
  const startTwo = async (queueVersions: QueueVersions) => {
    const replicas = await Promise.all([1, 2].map(() => startEffectService({ ...scene.service, queueVersions })));
    for (const replica of replicas) services.use(replica);
    return replicas;
  };
  const stop = async (replicas: readonly RunningProcess[]) => {
    for (const replica of replicas) {
      replica.kill("SIGTERM");
      expect(await replica.ended, replica.stderr()).toBe(0);
    }
  };
  const leads = ({ stderr }: RunningProcess) => [...stderr().matchAll(/"queue":"([^"]+)"/g)].at(-1)?.[1];
  const untilLed = (replicas: readonly RunningProcess[], to: number) =>
    expect.poll(() => replicas.map(leads), MOVED_WITHIN).toEqual(replicas.map(() => queue(to)));
  /** Deletes a release's queue, so that nothing can come by it, and waits for further calls. */
  const remove = async (from: number) => {
    await expect.poll(async () => (await raw.channel.checkQueue(queue(from))).messageCount, MOVED_WITHIN).toBe(0);
    await raw.channel.deleteQueue(queue(from));
    const { asked } = load;
    await expect.poll(() => load.asked, MOVED_WITHIN).toBeGreaterThan(asked + PER_SECOND);
  };

  let old = await startTwo(OLD);
  await using load = await startLoad(scene, { perSecond: PER_SECOND, deadlineMs: 40_000, kind: "effect", holdMs: 20 });
  for (let round = 0; round < ROUNDS; round++) {
    const fresh = await startTwo(NEW);
    await stop(old);
    await untilLed(fresh, 2);
    await expect.poll(async () => (await oldCaller.inspect(service))?.consumers, MOVED_WITHIN).toBe(2); // callers of the old release find the new one
    await remove(1);
    old = await startTwo(OLD);
    await expect.poll(async () => (await raw.channel.checkQueue(queue(1))).consumerCount, MOVED_WITHIN).toBe(4);
    await untilLed(fresh, 1);
    await stop(fresh);
    await remove(2);
  }
  const report = await load.stop();
  await record({
    fault: "F38",
    done: `${report.asked} calls at ${PER_SECOND}/s over ${ROUNDS} upgrades to a release with another queue, and as many roll-backs`,
    figures: summary(report),
  });
  expect(brokenRules(report)).toEqual([]);
  expect(report.failed).toEqual({});
  expect(report.answered).toBe(report.asked);
});
