import { setTimeout as sleep } from "node:timers/promises";
import type { Bus, Logger } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost, sharedAmqpUrl, sharedRedisUrl, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { textMessage, textOf, uniqueName } from "../broker/messages.ts";
import { openRawChannel } from "../broker/raw-channel.ts";
import { settleCall, tally, unharmed } from "./agent/settle-calls.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";
import { spread } from "./spread.ts";

const WAIT = { timeout: 40_000, interval: 20 };
const DELETIONS = atScale(2, 20);
/** How long refusals are watched. */
const REFUSED_MS = atScale(6_000, 20_000);
const ONE_CONNECTION = "one connection allowed";
/** So often refusals are watched until both connections are not let in meanwhile. */
const WATCHES = 5;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test("F23: a consumer whose queue is deleted, or that of its second tries, declares it again and goes on", async () => {
  await using bus = await connectBus(busUrl);
  await using raw = await openRawChannel(busUrl);
  const name = uniqueName();
  const received: string[] = [];
  await using _ = await bus.subscribe({ name, topics: [name] }, async (message) => {
    received.push(textOf(message));
    if (textOf(message) === "fails once" && received.filter((text) => text === "fails once").length === 1)
      throw new Error("the first time fails");
  });
  for (const part of ["main", "retry"] as const) {
    await raw.channel.deleteQueue(`rockbot.${name}.${part === "main" ? "v1" : "v2.retry"}`);
    await expect.poll(async () => (await bus.inspect(name, part))?.consumers, WAIT).toBe(1);
  }
  await bus.publish(textMessage(name, "after"), { mandatory: true });
  await bus.publish(textMessage(name, "fails once"), { mandatory: true });
  await expect.poll(() => received.toSorted(), WAIT).toEqual(["after", "fails once", "fails once"]);
});

test(`F23: a service whose queue is deleted ${DELETIONS} times serves again each time, and no call is lost or run twice`, {
  timeout: 60_000 + DELETIONS * 60_000,
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  await using raw = await openRawChannel(busUrl);
  const { caller, ledger, service } = scene;
  await using _service = await startEffectService(service);
  await caller.discovered();
  const recoveries: number[] = [];
  const calls: Promise<Awaited<ReturnType<typeof settleCall>>>[] = [];
  for (let deletion = 0; deletion < DELETIONS; deletion++) {
    // These run while their queue is deleted: their answers count all the same.
    const before = (await ledger.count("effect")).size;
    calls.push(
      ...Array.from({ length: 5 }, (_, index) =>
        settleCall(caller, scene.tool("effect"), { id: `${deletion}-${index}`, holdMs: 300 }, { timeoutMs: 60_000 }),
      ),
    );
    await expect.poll(async () => (await ledger.count("effect")).size, WAIT).toBe(before + 5);
    const start = performance.now();
    await raw.channel.deleteQueue(`rockbot.${service.service}.v1`);
    await expect
      .poll(() => settleCall(caller, scene.tool("read"), { id: "probe" }, { timeoutMs: 5_000 }), WAIT)
      .toMatchObject({ outcome: "ok" });
    recoveries.push(performance.now() - start);
  }
  const ended = tally(await Promise.all(calls), await ledger.count("effect"));
  await record({
    fault: "F23",
    done: `a service's queue deleted ${DELETIONS} times, 5 calls running each time`,
    figures: { ...ended, ...spread("serves again after", recoveries) },
  });
  expect(ended).toEqual(unharmed({ ok: 5 * DELETIONS }));
});

test("F23: a bus whose user may not connect any more says so, asks now and again, and goes on once it may", {
  timeout: 240_000 + 2 * WATCHES * REFUSED_MS,
}, async () => {
  await using broker = await ownVirtualHost();
  const user = uniqueName();
  await using proxy = await startTcpFaultProxy(broker.url);
  const permissions = [{ user, vhost: broker.name, configure: ".*", write: ".*", read: ".*" }];
  const allow = () => broker.importDefinitions({ users: [{ name: user, password: "secret", tags: "" }], permissions });
  await allow();
  const address = new URL(proxy.through(broker.url));
  address.username = user;
  address.password = "secret";
  const errors: string[] = [];
  const ignore = () => {};
  const log: Logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (fields) => void errors.push(JSON.stringify(fields)),
  };
  await using bus = await connectBus(address.href, { log });
  const received: string[] = [];
  await using _ = await bus.subscribe(
    { name: "served", topics: ["served"] },
    async (message) => void received.push(textOf(message)),
  );

  const refusals = [
    {
      what: "permissions revoked",
      refuse: () => broker.ctl("clear_permissions", "-p", broker.name, user),
      accept: allow,
    },
    {
      what: ONE_CONNECTION,
      refuse: () => broker.ctl("set_user_limits", user, '{"max-connections":1}'),
      accept: () => broker.ctl("clear_user_limits", user, "all"),
    },
  ];
  for (const { what, refuse, accept } of refusals) {
    await refuse();
    // A broker counts a user's connections late: two that come at once may both be let in. They are cut again then.
    const cutIfLetIn = (): string => {
      if (errors.length === 0 && bus.isReady) proxy.cutAll();
      return errors.join("\n");
    };
    let watched: { readonly attempts: number; readonly ms: number };
    let watches = 0;
    do {
      errors.length = 0;
      await expect.poll(cutIfLetIn, { timeout: 40_000, interval: 1_000 }).toMatch(/refuses/);
      const [from, since] = [proxy.accepted, performance.now()];
      await sleep(REFUSED_MS); // what it does meanwhile is measured
      watched = { attempts: proxy.accepted - from, ms: performance.now() - since };
    } while (what === ONE_CONNECTION && bus.isReady && ++watches < WATCHES);
    expect(bus.isReady).toBe(false);
    await accept();
    const start = performance.now();
    await expect.poll(() => bus.isReady, WAIT).toBe(true);
    const backMs = Math.round(performance.now() - start);
    await expectFlow(bus, received, what);
    await record({
      fault: "F23",
      done: `${what}, for ${REFUSED_MS} ms, of a bus with two connections`,
      figures: { attempts: watched.attempts, "log lines": errors.length, "back after ms": backMs },
    });
    expect(watched.attempts).toBeLessThanOrEqual(2 * (1 + watched.ms / 5_000)); // each connection twelve times a minute, and no hot loop
  }
});

async function expectFlow(bus: Bus, received: readonly string[], text: string): Promise<void> {
  await bus.publish(textMessage("served", text), { mandatory: true });
  await expect.poll(() => received, WAIT).toContain(text);
}
