import { hearAnswers } from "@rockbot/a2a/bus";
import { silentLogger } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createEnvelope } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { verifiedHost } from "./verified-broker.ts";

const POLICY = `
identity: verified
services:
  a2a: { topic: tool.invoke.a2a, tools: [invoke_agent] }
  research: { user: ResearchAgent, topic: agent.task.ResearchAgent }
callers: {}
`;

test("with the policy's rights two instances of the service a2a hear the answers to their own tasks, each in a queue of its own", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  await using one = await connectBus(broker.urlOf("a2a"), { identity: "verified" });
  await using other = await connectBus(broker.urlOf("a2a"), { identity: "verified" });
  await using agent = await connectBus(broker.urlOf("ResearchAgent"), { identity: "verified" });
  const heard: string[] = [];
  const hear = (bus: typeof one, name: string) =>
    hearAnswers(
      bus,
      "a2a",
      async ({ body, userId }) => void heard.push(`${name} hears ${Buffer.from(body).toString()} from ${userId}`),
      silentLogger,
    );
  await using ofOne = await hear(one, "one");
  await using ofOther = await hear(other, "other");

  expect(ofOne.topic).toMatch(/^agent\.response\.a2a\.\d+$/);
  expect(ofOther.topic).toMatch(/^agent\.response\.a2a\.\d+$/);
  expect(ofOther.topic).not.toBe(ofOne.topic);
  for (const [topic, text] of [
    [ofOne.topic, "first"],
    [ofOther.topic, "second"],
  ] as const)
    await agent.publish(createEnvelope({ topic, type: "Test", source: "ResearchAgent", body: Buffer.from(text) }), {
      mandatory: true,
    });
  await expect
    .poll(() => heard.toSorted(), { timeout: 20_000 })
    .toEqual(["one hears first from ResearchAgent", "other hears second from ResearchAgent"]);
});
