import { expect, test } from "vitest";
import {
  checkName,
  isName,
  isReplyTopic,
  isReplyTopicOf,
  isSessionId,
  isUserReplyTopic,
  isUserReplyTopicOf,
} from "./names.ts";

test.each(["a", "web-tools", "0", "a".repeat(39)])("%s is a name", (name) => {
  expect(isName(name)).toBe(true);
});

test.each(["", "-a", "A", "a.b", "a_b", "#", "*", "a\n", ".+", "é", "a".repeat(40)])(
  "%j is no name that we create",
  (name) => {
    expect(isName(name)).toBe(false);
    expect(() => checkName("a service's name", name)).toThrow(RangeError);
  },
);

test.each([
  "tool.result",
  "tool.result.RockBot",
  "tool.result.cli.0a1b",
  "script.result.RockBot",
  "mcp.manage.response.agent_1",
])("an answer may go to %s", (topic) => {
  expect(isReplyTopic(topic)).toBe(true);
});

test.each([
  "",
  "tool",
  "tool.invoke",
  "tool.results",
  "tool.result.",
  "tool.result..a",
  "tool.result.a.b.c",
  "tool.result.#",
  "tool.result.a*",
  "tool.result.a b",
  "user.response",
])("no answer goes to %j", (topic) => {
  expect(isReplyTopic(topic)).toBe(false);
});

test("a session's id is 1 to 256 visible ASCII characters", () => {
  expect(["a", "user:7/chat", "x".repeat(256)].every(isSessionId)).toBe(true);
  expect(["", "a b", "ü", "a\n", "x".repeat(257)].some(isSessionId)).toBe(false);
});

test("the agent replies to topics of users, where no tool answers", () => {
  for (const topic of [
    "user.response",
    "user.response.alice",
    "user.response.alice.0",
    "user.history.response.user-proxy",
  ]) {
    expect(isUserReplyTopic(topic)).toBe(true);
    expect(isReplyTopic(topic)).toBe(false);
  }
  for (const topic of ["user.message", "user.responses", "user.response.a.b.c", "tool.result.alice", "user.response.#"])
    expect(isUserReplyTopic(topic)).toBe(false);
});

test("a reply topic is its user's own if the user's name follows the root", () => {
  expect(isUserReplyTopicOf("alice", "user.response.alice.1")).toBe(true);
  expect(isReplyTopicOf("alice", "tool.result.alice")).toBe(true);
  for (const topic of ["user.response", "user.response.alicex", "user.response.bob", "tool.result.alice"])
    expect(isUserReplyTopicOf("alice", topic)).toBe(false);
});
