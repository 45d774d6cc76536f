import { setTimeout as sleep } from "node:timers/promises";
import { ownVirtualHost, sharedRedisUrl, startOwnBroker } from "@rockbot/testing";
import { afterAll, expect, test } from "vitest";
import { countOutcomes, settleCall, tally } from "./agent/settle-calls.ts";
import { brokenRules, summary } from "./effects/ledger.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { startLoad } from "./load.ts";
import { openScene } from "./scene.ts";

/** What is done to it is over when a test ends. */
const [broker, redisUrl] = await Promise.all([startOwnBroker(), sharedRedisUrl()]);
afterAll(() => broker[Symbol.asyncDispose]());

/** Past each limit: shorter than the watchdog, longer than heartbeats, longer than the calls' deadline. */
const PAUSES_MS = atScale(0, 1) === 0 ? [3_000] : [3_000, 12_000, 40_000];

test.each(PAUSES_MS)(
  "F03: a broker that stands still for %d ms under 100 calls a second delays calls, and none runs that was told to be unavailable",
  {
    timeout: 180_000,
  },
  async (pauseMs) => {
    const deadlineMs = 20_000;
    await using scene = await openScene(broker.url, { redisUrl });
    await using _one = await startEffectService(scene.service);
    await using _other = await startEffectService(scene.service);
    await using load = await startLoad(scene, { perSecond: 100, deadlineMs, kind: "effect", callers: 16 });
    await sleep(1_000); // the load runs undisturbed
    await broker.pause();
    // Calls whose deadline is over during the pause.
    const hasty = Array.from({ length: 10 }, (_, index) =>
      settleCall(scene.caller, scene.tool("effect"), { id: `hasty-${index}` }, { timeoutMs: 1_000 }),
    );
    const pausedAt = performance.now();
    await expect.poll(() => scene.bus.isReady, { timeout: 10_000, interval: 10 }).toBe(false);
    const noticedMs = performance.now() - pausedAt;
    await sleep(Math.max(0, pauseMs - noticedMs));
    await broker.resume();
    const ended = await Promise.all(hasty);
    await sleep(2_000);

    const report = await load.stop();
    const stale = [...(await scene.ledger.count("effect")).keys()].filter((id) => id.startsWith("hasty"));
    await record({
      fault: "F03",
      done: `${report.asked} calls at 100/s, broker paused ${pauseMs} ms`,
      figures: {
        ...summary(report),
        "run after their deadline": stale.length,
        "noticed after ms": Math.round(noticedMs),
      },
    });
    expect(brokenRules(report)).toEqual([]);
    expect(report.repeated).toEqual([]);
    // Who waits past the deadline has one typed answer as well.
    const mayFail = pauseMs > deadlineMs ? ["timeout", "unavailable"] : [];
    expect(Object.keys(report.failed).filter((code) => !mayFail.includes(code))).toEqual([]);
    expect(ended.filter(({ outcome, isLate }) => !["timeout", "unavailable"].includes(outcome) || isLate)).toEqual([]);
    // A request that was on its way when the broker stood still may run: then its caller was told `timeout`, not that
    // nothing was run.
    expect(
      ended.flatMap(({ outcome }, index) =>
        outcome === "unavailable" && stale.includes(`hasty-${index}`) ? [index] : [],
      ),
    ).toEqual([]);
  },
);

test("F20: while the broker is short of memory running calls end, new ones are refused at once, and then all is well again", {
  timeout: 240_000,
}, async () => {
  await using scene = await openScene(broker.url, { redisUrl });
  const { caller, ledger } = scene;
  await using _service = await startEffectService(scene.service);
  await caller.discovered();
  const running = Array.from({ length: 10 }, (_, index) =>
    settleCall(caller, scene.tool("effect"), { id: `running-${index}`, holdMs: 3_000 }, { timeoutMs: 40_000 }),
  );
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 5_000 }).toBe(10);
  await broker.ctl("set_vm_memory_high_watermark", "absolute", "1MB");
  await expect
    .poll(async () => (await settleCall(caller, scene.tool("read"), { id: "probe" }, { timeoutMs: 500 })).outcome, {
      timeout: 20_000,
    })
    .not.toBe("ok");
  const refused = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      settleCall(caller, scene.tool("effect"), { id: `refused-${index}` }, { timeoutMs: 1_000 }),
    ),
  );
  await broker.ctl("set_vm_memory_high_watermark", "0.6");
  await expect
    .poll(async () => (await settleCall(caller, scene.tool("read"), { id: "probe" })).outcome, { timeout: 20_000 })
    .toBe("ok");

  expect(countOutcomes(await Promise.all(running))).toEqual({ ok: 10 });
  await record({
    fault: "F20",
    done: "10 calls running and 20 new ones during a memory alarm",
    figures: {
      "running ok": 10,
      ...tally([...(await Promise.all(running)), ...refused], await ledger.count("effect")),
      "slowest refusal ms": Math.round(Math.max(...refused.map(({ ms }) => ms))),
    },
  });
  expect(refused.filter(({ outcome, ms }) => outcome !== "overloaded" || ms > 900)).toEqual([]);
  expect([...(await ledger.count("effect"))].filter(([id, count]) => id.startsWith("running") && count > 1)).toEqual(
    [],
  );
});

test("F22: when a service's queue is full by policy calls are refused as overloaded at once, and another service takes its calls", {
  timeout: 240_000,
}, async () => {
  await using host = await ownVirtualHost();
  await using full = await openScene(host.url, { redisUrl });
  await using beside = await openScene(host.url, { redisUrl });
  await host.ctl(
    "set_policy",
    "-p",
    host.name,
    "length",
    `^rockbot\\.${full.service.service}\\.v1$`,
    '{"max-length":5}',
    "--apply-to",
    "queues",
  );
  await using _full = await startEffectService({ ...full.service, concurrency: 1 });
  await using _beside = await startEffectService(beside.service);
  await Promise.all([full.caller.discovered(), beside.caller.discovered()]);
  const flood = Array.from({ length: 100 }, (_, index) =>
    settleCall(full.caller, full.tool("read"), { id: `flood-${index}`, holdMs: 4_000 }, { timeoutMs: 4_000 }),
  );
  // A quorum queue's limit is soft: a burst may pass it before the queue has counted. What comes afterwards is refused.
  await expect
    .poll(async () => (await full.bus.inspect(full.service.service))?.messages, { timeout: 5_000 })
    .toBeGreaterThanOrEqual(5);
  const late = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      settleCall(full.caller, full.tool("read"), { id: `late-${index}` }, { timeoutMs: 8_000 }),
    ),
  );
  const others = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      settleCall(beside.caller, beside.tool("read"), { id: `beside-${index}` }, { timeoutMs: 5_000 }),
    ),
  );
  const flooded = await Promise.all(flood);

  await record({
    fault: "F22",
    done: "20 calls to a queue that is full by policy, 20 to another service",
    figures: {
      ...tally([...late, ...others], new Map()),
      "slowest refusal ms": Math.round(Math.max(...late.map(({ ms }) => ms))),
      "others ok": countOutcomes(others)["ok"] ?? 0,
    },
  });
  expect(countOutcomes(late)).toEqual({ overloaded: late.length });
  expect(countOutcomes(others)).toEqual({ ok: others.length });
  expect(flooded.filter(({ outcome }) => !["ok", "timeout", "overloaded"].includes(outcome))).toEqual([]);
});
