import { expect, test } from "vitest";
import { matchesTopic, topicFault } from "./topic.ts";

test.each([
  ["a.b", "a.b", true],
  ["a.b", "a.b.c", false],
  ["*", "", true],
  ["#", "", true],
  ["#.#", "a", true],
  ["a.#.#.b", "a.b", true],
  ["#.b.*", "a.b.b.c", true],
  ["*.*", "a", false],
])("the pattern %j matches %j: %j", (pattern, topic, expected) => {
  expect(matchesTopic(pattern, topic)).toBe(expected);
});

test("a topic of 255 bytes may be published to, one of 256 may not", () => {
  expect(topicFault("é".repeat(127))).toBeUndefined();
  expect(topicFault("é".repeat(128))).toBeInstanceOf(RangeError);
});
