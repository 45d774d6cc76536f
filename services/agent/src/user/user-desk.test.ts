import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages } from "@rockbot/contracts";
import { createIdentity, MessageMeter } from "@rockbot/tools";
import { expect, test } from "vitest";
import type { TurnCalls } from "./turn-calls.ts";
import { openUserDesk, type UserDeskOptions } from "./user-desk.ts";
import { UserReplies } from "./user-replies.ts";

test("a message that agents break off over again and again is answered once, in words, and parked", async () => {
  await using bus = createMemoryBus();
  const heard: object[] = [];
  await using _replies = await bus.subscribe({ name: "result.users", topics: ["user.response.users"], kind: "result" }, async ({ correlationId, body }) => {
    heard.push({ ...(JSON.parse(Buffer.from(body).toString()) as object), correlationId });
  });
  let asked = 0;
  const turns: Pick<TurnCalls, "ask"> = {
    async ask() {
      asked++;
      throw new Error("the agent breaks off");
    },
  };
  const agent: UserDeskOptions["agent"] = {
    history: async () => [],
    note: async () => {},
    place: async () => {},
    leave: async () => {},
    isToBlame: async () => true,
  };
  const addresses = { set: async () => {}, get: async () => undefined };
  const log = silentLogger;
  const replies = new UserReplies(bus, { source: "agent", agentName: "RockBot", addresses, log });
  const parts = { agent, turns: turns as TurnCalls, replies, addresses, identity: createIdentity(bus, undefined), meter: new MessageMeter({ log }) };
  await using _desk = await openUserDesk(bus, { ...parts, source: "agent", turnTimeoutMs: 1_000, drainMs: 1_000, log });

  const body = encodeMessage("UserMessage", { content: "deadly", sessionId: "s", userId: "u", targetAgent: null });
  await bus.publish(
    createEnvelope({ topic: "user.message", type: messages.UserMessage.type, source: "users", replyTo: "user.response.users", correlationId: "q", body }),
  );

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
