import { createEnvelope } from "@rockbot/contracts";
import { ownVirtualHost } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectBus } from "../rabbitmq-bus.ts";

/**
 * Two of 256 subscriptions would pick the same random name in all runs but one of a thousand. Fewer come after those
 * have gone.
 */
const ROUNDS = [60, 10];

test("where senders are verified, no two subscriptions of a process share a queue for copies, also those that come after others have gone", {
  timeout: 120_000,
}, async () => {
  await using host = await ownVirtualHost();
  await using bus = await connectBus(host.url, { identity: "verified" });
  const heard: string[] = [];
  const subscribe = (topic: string) =>
    bus.subscribe(
      { name: topic, topics: [topic], kind: "copy" },
      async (message) => void heard.push(`${topic} heard ${message.topic}`),
    );
  const publish = (topic: string) =>
    bus.publish(createEnvelope({ topic, type: "t", source: bus.traits.user ?? "", body: Buffer.from("{}") }));

  for (const [round, size] of ROUNDS.entries()) {
    const topics = Array.from({ length: size }, (_, index) => `copies.${round}-${index}`);
    const subscriptions = await Promise.all(topics.map(subscribe));
    await Promise.all(topics.map(publish));
    await expect.poll(() => heard.toSorted()).toEqual(topics.map((topic) => `${topic} heard ${topic}`).toSorted());
    await Promise.all(subscriptions.map((subscription) => subscription[Symbol.asyncDispose]()));
    heard.length = 0;
  }
});
