import { expect, test } from "vitest";
import { agentTopics } from "./agent-topics.ts";

test("the topic of a session's events has its caller, and one word for any id of the session", () => {
  expect(agentTopics.event("alice", "session/a.b #*")).toMatch(/^agent\.event\.alice\.[0-9a-f]{16}$/);
  expect(agentTopics.event("alice", "a")).toBe("agent.event.alice.ca978112ca1bbdca");
});
