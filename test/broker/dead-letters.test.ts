import { DeadLetterError, type Death } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { sharedAmqpUrl, startTcpFaultProxy } from "@rockbot/testing";
import type { GetMessage } from "amqplib";
import { expect, test } from "vitest";
import { textMessage, textOf, uniqueName } from "./messages.ts";
import { openRawChannel } from "./raw-channel.ts";

const url = await sharedAmqpUrl();
const WAIT = { timeout: 20_000 };

test("a parked message says why it is there and where it was going, and keeps its own headers", async () => {
  await using bus = await connectBus(url);
  await using raw = await openRawChannel(url);
  const name = uniqueName();
  await using _ = await bus.subscribe({ name, topics: [`${name}.*`] }, async (message) => {
    if (textOf(message) === "odd") throw new DeadLetterError("not a message of ours");
    throw new Error("never works");
  });
  const headers = { "rb-timeout-ms": "60000" };
  await bus.publish(textMessage(`${name}.odd`, "odd", { headers, correlationId: "c-odd", replyTo: "tool.result.me" }));
  await bus.publish(textMessage(`${name}.poison`, "poison", { headers, correlationId: "c-poison" }));
  await expect.poll(async () => (await bus.inspect(name, "parked"))?.messages, WAIT).toBe(2);

  const parked = [
    await raw.channel.get(`rockbot.${name}.v2.parked`, { noAck: true }),
    await raw.channel.get(`rockbot.${name}.v2.parked`, { noAck: true }),
  ];
  const byCorrelation = Object.fromEntries(
    (parked as GetMessage[]).map(({ properties, content }) => [
      properties.correlationId,
      { properties, text: content.toString() },
    ]),
  );
  expect(byCorrelation["c-odd"]).toMatchObject({
    text: "odd",
    properties: {
      replyTo: "tool.result.me",
      headers: {
        "rb-rb-timeout-ms": "60000",
        "x-rockbot-death-reason": "rejected",
        "x-rockbot-death-message": "not a message of ours",
        "x-rockbot-topic": `${name}.odd`,
        "x-rockbot-queue": `rockbot.${name}.v1`,
      },
    },
  });
  expect(byCorrelation["c-poison"]).toMatchObject({
    properties: { headers: { "x-rockbot-death-reason": "failed", "x-rockbot-topic": `${name}.poison` } },
  });
});

test("messages whose time was over before anybody took them are sorted out, and parked", async () => {
  await using sender = await connectBus(url);
  await using raw = await openRawChannel(url);
  const name = uniqueName();
  await (await sender.subscribe({ name, topics: [name] }, async () => {}))[Symbol.asyncDispose]();
  const stale = Array.from({ length: 20 }, (_, index) => `stale ${index}`);
  await Promise.all(stale.map((text) => sender.publish(textMessage(name, text, { ttlMs: 500 }))));
  await expect.poll(async () => (await raw.channel.checkQueue(`rockbot.${name}.v1.retry`)).messageCount, WAIT).toBe(20);
  await using _ = await sender.subscribe({ name, topics: [name] }, async () => {});
  await expect.poll(async () => (await sender.inspect(name, "parked"))?.messages, WAIT).toBe(20);
});

test("messages that were parked in the classic queue of before are moved in their order, and that queue is deleted", async () => {
  await using bus = await connectBus(url);
  await using raw = await openRawChannel(url);
  const name = uniqueName();
  const old = `rockbot.${name}.v1.parked`;
  await raw.channel.assertQueue(old, {
    arguments: {
      "x-queue-type": "classic",
      "x-message-ttl": 604_800_000,
      "x-max-length": 10_000,
      "x-overflow": "drop-head",
    },
  });
  const died = "2026-01-02T03:04:05.000Z";
  for (const text of ["first", "second"]) {
    const notes = {
      "x-rockbot-death-reason": "rejected",
      "x-rockbot-death-message": "no",
      "x-rockbot-topic": `${name}.topic`,
      "x-rockbot-died-at": died,
    };
    raw.channel.sendToQueue(old, Buffer.from(text), { messageId: text, headers: { ...notes, "rb-kept": "yes" } });
  }
  await expect.poll(async () => (await raw.channel.checkQueue(old)).messageCount, WAIT).toBe(2);
  await using _ = await bus.subscribe({ name, topics: [name] }, async () => {});
  await expect.poll(async () => (await bus.inspect(name, "parked"))?.messages, WAIT).toBe(2);
  const kept: object[] = [];
  await bus.visitParked(name, async ({ message, reason, why, parkedAt }) => {
    kept.push({ text: textOf(message), topic: message.topic, headers: message.headers, reason, why, parkedAt });
    return "keep";
  });
  const expected = {
    topic: `${name}.topic`,
    headers: { kept: "yes" },
    reason: "rejected",
    why: "no",
    parkedAt: Date.parse(died),
  };
  expect(kept).toEqual(["first", "second"].map((text) => ({ text, ...expected })));
  await expect.poll(() => isThere(old), WAIT).toBe(false);
});

test("a look at parked messages that is cut off loses none, and a message that came without an id keeps the one it got", async () => {
  await using proxy = await startTcpFaultProxy(url);
  await using bus = await connectBus(url);
  await using operator = await connectBus(proxy.through(url));
  await using raw = await openRawChannel(url);
  const name = uniqueName();
  await using _ = await bus.subscribe({ name, topics: [name] }, async () => {
    throw new DeadLetterError("no");
  });
  for (const [index, text] of ["first", "second", "third"].entries()) {
    raw.channel.publish("rockbot", name, Buffer.from(text));
    await expect.poll(async () => (await bus.inspect(name, "parked"))?.messages, WAIT).toBe(index + 1);
  }
  const ids: string[] = [];
  const cut = operator.visitParked(name, async ({ message }) => {
    ids.push(message.messageId);
    if (textOf(message) !== "second") return "keep";
    proxy.cutAll();
    await expect.poll(() => operator.isReady, { ...WAIT, interval: 1 }).toBe(false);
    return "remove";
  });
  await expect(cut).rejects.toThrow(/parked messages of .* is kept/);

  await expect.poll(async () => (await bus.inspect(name, "parked"))?.messages, WAIT).toBe(3);
  const kept: [string, string][] = [];
  await bus.visitParked(name, async ({ message }) => {
    kept.push([textOf(message), message.messageId]);
    return "keep";
  });
  expect(kept.map(([text]) => text)).toEqual(["first", "second", "third"]);
  expect(kept.slice(0, 2).map(([, id]) => id)).toEqual(ids);
});

test("a message that kills its consumers is given up as such, and its neighbours are handled", {
  timeout: 90_000,
}, async () => {
  await using proxy = await startTcpFaultProxy(url);
  await using victim = await connectBus(proxy.through(url));
  const name = uniqueName();
  const deaths: [string, string, Death][] = [];
  const handled = new Set<string>();
  let crashes = 0;
  const onDeadLetter = async (message: Parameters<typeof textOf>[0], death: Death) =>
    void deaths.push([message.topic, textOf(message), death]);
  await using _ = await victim.subscribe(
    { name, topics: [`${name}.*`], concurrency: 4, onDeadLetter },
    async (message) => {
      if (textOf(message) !== "poison") return void handled.add(textOf(message));
      crashes++;
      proxy.cutAll(); // for the broker it is as if the process had died
      await expect.poll(() => victim.isReady, { ...WAIT, interval: 1 }).toBe(false);
    },
  );
  await using sender = await connectBus(url);
  const neighbours = Array.from({ length: 8 }, (_, index) => `neighbour ${index}`);
  for (const text of ["poison", ...neighbours]) await sender.publish(textMessage(`${name}.x`, text));

  await expect.poll(() => deaths.length, { timeout: 60_000 }).toBeGreaterThan(0);
  await expect.poll(() => handled.size, WAIT).toBe(neighbours.length);
  await expect.poll(async () => (await sender.inspect(name, "parked"))?.messages, WAIT).toBeGreaterThan(0);
  expect(deaths.filter(([, text, { reason }]) => text !== "poison" || reason !== "crashed")).toEqual([]);
  // 10 allowed returns and the first delivery, then twice alone; and that again if its end cut off the word that it had
  // been passed on.
  expect(crashes).toBeLessThanOrEqual(15);
});

test("a message that consumers die over again and again, and whose work gets on, is handled all the same", {
  timeout: 90_000,
}, async () => {
  await using proxy = await startTcpFaultProxy(url);
  await using victim = await connectBus(proxy.through(url));
  const name = uniqueName();
  const deaths: Death[] = [];
  const onDeadLetter = async (_: unknown, death: Death) => void deaths.push(death);
  const seen: (readonly [topic: string, ttlMs: number | undefined, isRedelivered: boolean])[] = [];
  let asked = 0;
  let crashes = 0;
  const isToBlame = async (message: Parameters<typeof textOf>[0]) => {
    asked++;
    return textOf(message) !== "long" || crashes > 12;
  };
  await using _ = await victim.subscribe(
    { name, topics: [`${name}.*`], onDeadLetter, isToBlame },
    async (message, { isRedelivered }) => {
      seen.push([message.topic, message.ttlMs, isRedelivered]);
      if (++crashes > 12) return;
      proxy.cutAll(); // for the broker it is as if the process had died
      await expect.poll(() => victim.isReady, { ...WAIT, interval: 1 }).toBe(false);
    },
  );
  await using sender = await connectBus(url);
  await sender.publish({ ...textMessage(`${name}.x`, "long"), ttlMs: 600_000 });

  await expect.poll(() => crashes, { timeout: 60_000 }).toBeGreaterThan(12);
  await expect.poll(async () => (await sender.inspect(name))?.messages, WAIT).toBe(0);
  expect([deaths, (await sender.inspect(name, "parked"))?.messages]).toEqual([[], 0]);
  expect(asked).toBeGreaterThan(0);
  expect([...new Set(seen.map((each) => JSON.stringify(each)))]).toEqual([
    `["${name}.x",600000,false]`,
    `["${name}.x",600000,true]`,
  ]);
});

/** Asked on a channel of its own, as the broker closes one that asks for what is not there. */
async function isThere(queue: string): Promise<boolean> {
  await using raw = await openRawChannel(url);
  raw.channel.on("error", () => {});
  return raw.channel.checkQueue(queue).then(
    () => true,
    () => false,
  );
}
