import { type Bus, createMemoryBus, type Delivery, silentLogger } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages } from "@rockbot/contracts";
import { createIdentity, MessageMeter } from "@rockbot/tools";
import { expect, test } from "vitest";
import type { TurnCalls } from "./turn-calls.ts";
import { openUserDesk, type UserDeskOptions } from "./user-desk.ts";
import { UserReplies } from "./user-replies.ts";

async function start(ask: TurnCalls["ask"], delivery: Partial<Delivery> = {}) {
  const log = silentLogger;
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const heard: object[] = [];
  started.use(
    await bus.subscribe(
      { name: "result.users", topics: ["user.response.users"], kind: "result" },
      async ({ correlationId, body }) => {
        heard.push({ ...(JSON.parse(Buffer.from(body).toString()) as object), correlationId });
      },
    ),
  );
  const handled = Promise.withResolvers<void>();
  const deskBus: Bus = {
    ...bus,
    publish: (...args) => bus.publish(...args),
    subscribe: (options, handle) =>
      bus.subscribe(options, (message, own) => handle(message, { ...own, ...delivery }).finally(handled.resolve)),
  };
  const agent: UserDeskOptions["agent"] = {
    history: async () => [],
    note: async () => {},
    place: async () => {},
    leave: async () => {},
    isToBlame: async () => true,
  };
  const addresses = { set: async () => {}, get: async () => undefined };
  const replies = new UserReplies(bus, { source: "agent", agentName: "RockBot", addresses, log });
  const meter = new MessageMeter({ log, clock: () => 0 });
  const parts = {
    agent,
    turns: { ask } as TurnCalls,
    replies,
    addresses,
    identity: createIdentity(bus, undefined),
    meter,
  };
  started.use(await openUserDesk(deskBus, { ...parts, source: "agent", turnTimeoutMs: 1_000, drainMs: 1_000, log }));
  const send = (content: string): Promise<void> => {
    const body = encodeMessage("UserMessage", { content, sessionId: "s", userId: "u", targetAgent: null });
    const { type } = messages.UserMessage;
    return bus.publish(
      createEnvelope({
        topic: "user.message",
        type,
        source: "users",
        replyTo: "user.response.users",
        correlationId: "q",
        body,
      }),
    );
  };
  const running = started.move();
  return { bus, heard, meter, send, handled: handled.promise, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

test("a message that agents break off over again and again is answered once, in words, and parked", async () => {
  let asked = 0;
  await using desk = await start(async () => {
    asked++;
    throw new Error("the agent breaks off");
  });
  const { bus, heard } = desk;
  await desk.send("deadly");

  await expect.poll(async () => (await bus.inspect("agent.user", "parked"))?.messages).toBe(1);
  await expect
    .poll(() => heard)
    .toEqual([
      expect.objectContaining({
        correlationId: "q",
        sessionId: "s",
        isFinal: true,
        content: "I could not answer: I broke off over your message again and again.",
      }),
    ]);
  expect(asked).toBe(2); // the bus tries once more
});

test.each([
  ["is refused", {}, ["I could not take your message: too many messages: try again in 1 s"]],
  ["is not refused where another agent has it by now", { isOurs: async () => false }, []],
  ["is answered where an agent may have taken it before", { isRedelivered: true }, ["done"]],
])("a message that is too many %s", async (_, delivery, texts) => {
  await using desk = await start(async () => ({ text: "done", isAnswer: true }), delivery);
  while (desk.meter.take("invoke", "users", 1) === undefined);
  await desk.send("one more");
  await desk.handled;
  await expect
    .poll(() => desk.heard)
    .toEqual(texts.map((content) => expect.objectContaining({ content, isFinal: true })));
});
