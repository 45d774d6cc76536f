import type { Message } from "amqplib";
import { expect, test } from "vitest";
import { isOwnDeadLetter, isPutBack, isStraight } from "./provenance.ts";

function message({
  key,
  user,
  deaths,
}: {
  readonly key: string;
  readonly user?: string;
  readonly deaths?: readonly string[];
}): Message {
  const headers = deaths === undefined ? {} : { "x-death": deaths.map((queue) => ({ queue, reason: "expired" })) };
  return {
    fields: { routingKey: key },
    properties: { headers, userId: user },
    content: Buffer.of(),
  } as unknown as Message;
}

test.each([
  ["published to a topic of the subscription", { key: "tool.result.a" }, true],
  ["published to one that a pattern takes in", { key: "tool.announce.web-tools" }, true],
  ["published to another topic, and here by a header", { key: "tool.announce.probe.x" }, false],
  ["moved here by the dead letters of a queue", { key: "tool.result.a", deaths: ["amq.gen-1"] }, false],
])("a message is straight if its sender published it here: %s", (_, fields, expected) => {
  expect(isStraight(message(fields), ["tool.result.a", "tool.announce.*"])).toBe(expected);
});

test.each([
  ["out of the service's own fast lane", ["rockbot.s.v1.fast"], true],
  ["out of another queue, whatever it says of before", ["amq.gen-1", "rockbot.s.v1.fast"], false],
])("a message that found no room is straight if it came %s", (_, deaths, expected) => {
  expect(isStraight(message({ key: "tool.invoke", deaths }), ["tool.invoke"], "rockbot.s.v1.fast")).toBe(expected);
});

test.each([
  ["by the service", { key: "rockbot.s.v1", user: "service" }, true],
  ["by another", { key: "rockbot.s.v1", user: "agent" }, false],
  ["by the service to another queue, and here by a header", { key: "rockbot.s.v1.dlq", user: "service" }, false],
  ["moved here by the dead letters of a queue", { key: "rockbot.s.v1", user: "service", deaths: ["amq.gen-1"] }, false],
])("a message is put back into the main queue by the service alone: %s", (_, fields, expected) => {
  expect(isPutBack(message(fields), "rockbot.s.v1", "service")).toBe(expected);
});

const own = ["rockbot.s.v1", "rockbot.s.v1.retry", "rockbot.s.v1.dlq"];

test.each([
  [
    "moved by the broker from the main queue",
    { key: "rockbot.s.v1.retry", user: "agent", deaths: ["rockbot.s.v1"] },
    true,
  ],
  ["published by the service", { key: "rockbot.s.v1.retry", user: "service" }, true],
  ["published by another", { key: "rockbot.s.v1.retry", user: "agent" }, false],
  ["published by nobody known", { key: "rockbot.s.v1.retry" }, false],
  [
    "moved from another's queue last, whatever it says of before",
    { key: "rockbot.s.v1.retry", user: "agent", deaths: ["amq.gen-1", "rockbot.s.v1"] },
    false,
  ],
  [
    "published by the service to another queue, and here by a header",
    { key: "rockbot.s.v1.dlq", user: "service" },
    false,
  ],
])("a dead letter is the service's own: %s", (_, fields, expected) => {
  expect(isOwnDeadLetter(message(fields), "rockbot.s.v1.retry", "service", own)).toBe(expected);
});
