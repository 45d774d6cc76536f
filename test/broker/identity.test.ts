import { BusUnavailableError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { type Envelope, newId } from "@rockbot/contracts";
import { ownVirtualHost } from "@rockbot/testing";
import { expect, test } from "vitest";
import { textMessage, textOf } from "./messages.ts";

test("verified senders are named to receivers, also of dead letters, and what a sender may not publish harms none of its other messages", {
  timeout: 90_000,
}, async () => {
  await using broker = await ownVirtualHost();
  const user = `alice-${newId().slice(0, 8)}`; // users are the broker's: another test may have an alice, too
  await broker.importDefinitions({
    users: [{ name: user, password: "pw-alice", tags: "" }],
    permissions: [{ user, vhost: broker.name, configure: ".*", write: ".*", read: ".*" }],
    topic_permissions: [{ user, vhost: broker.name, exchange: "rockbot", write: "^allowed\\..*", read: ".*" }],
  });
  const aliceUrl = new URL(broker.url);
  aliceUrl.username = user;
  aliceUrl.password = "pw-alice";

  await using service = await connectBus(broker.url, { identity: "verified" });
  await using alice = await connectBus(aliceUrl.href, { identity: "verified" });
  expect(alice.traits.verifiesSender).toBe(true);
  const received: Envelope[] = [];
  const dead: Envelope[] = [];
  const onDeadLetter = async (message: Envelope) => void dead.push(message);
  await using _ = await service.subscribe({ name: "served", topics: ["#"], onDeadLetter }, async (message) => {
    if (textOf(message) === "poison") throw new Error("never works");
    received.push(message);
  });

  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, (_, index) =>
      alice.publish(textMessage(index === 20 ? "forbidden.topic" : "allowed.topic", String(index))),
    ),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(
    outcomes.map((_, index) => (index === 20 ? "rejected" : "fulfilled")),
  );
  const refused = outcomes[20] as PromiseRejectedResult;
  expect(refused.reason).toBeInstanceOf(BusUnavailableError);
  expect(String(refused.reason)).toMatch(/the broker refuses the message \(.*ACCESS.REFUSED/);
  expect(refused.reason).toMatchObject({ isForbidden: true });
  await expect.poll(() => new Set(received.map(textOf)).size, { timeout: 10_000 }).toBe(39);
  expect(new Set(received.map(({ userId }) => userId))).toEqual(new Set([user]));

  await alice.publish(textMessage("allowed.topic", "poison"));
  await expect
    .poll(() => dead.map(({ userId, topic }) => ({ userId, topic })), { timeout: 10_000 })
    .toEqual([{ userId: user, topic: "allowed.topic" }]);
});
