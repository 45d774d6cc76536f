import { setTimeout as sleep } from "node:timers/promises";
import { type Direction, sharedAmqpUrl, sharedRedisUrl, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { brokenRules, summary } from "./effects/ledger.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { startLoad } from "./load.ts";
import { openScene } from "./scene.ts";

const PER_SECOND = atScale(20, 50);
/** Longer than the broker waits for a heartbeat; the soak adds one that is longer than any timeout. */
const LONG_MS = 12_000;
const isSoak = atScale(0, 1) > 0;
const cuts: readonly { readonly lost: string; readonly direction: Direction | undefined; readonly ms: number }[] = [
  { lost: "both ways", direction: undefined, ms: 2_000 },
  { lost: "what it sends", direction: "toBroker", ms: LONG_MS },
  ...(isSoak
    ? [
        { lost: "what it should get", direction: "toClient", ms: LONG_MS } as const,
        { lost: "both ways", direction: undefined, ms: 20_000 },
      ]
    : []),
];
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test.for(cuts)(
  "F06: one of two replicas that is parted from the broker for $ms ms, $lost, costs no call more than time",
  {
    timeout: 120_000,
  },
  async ({ direction, lost, ms }) => {
    await using proxy = await startTcpFaultProxy(busUrl);
    await using scene = await openScene(busUrl, { redisUrl });
    await using _parted = await startEffectService({ ...scene.service, busUrl: proxy.through(busUrl) });
    await using _other = await startEffectService(scene.service);
    await using load = await startLoad(scene, {
      perSecond: PER_SECOND,
      deadlineMs: 40_000,
      kind: "effect",
      callers: 10,
      holdMs: 20,
    });
    await sleep(1_000); // the load runs undisturbed
    proxy.setSilent(true, direction);
    await sleep(ms);
    proxy.setSilent(false, direction);
    const healedAt = performance.now();
    const consumers = async () => (await scene.bus.inspect(scene.service.service).catch(() => undefined))?.consumers; // asked again if the broker is slow
    await expect.poll(consumers, { timeout: 30_000 }).toBe(2);
    const backMs = Math.round(performance.now() - healedAt);
    await sleep(1_000); // both serve

    const report = await load.stop();
    await record({
      fault: "F06",
      done: `${report.asked} calls at ${PER_SECOND}/s, one of two replicas parted from the broker for ${ms} ms, ${lost}`,
      figures: { ...summary(report), "both serve again after ms": backMs },
    });
    expect(brokenRules(report)).toEqual([]);
    expect(report).toMatchObject({ failed: {}, repeated: [], answered: report.asked });
  },
);
