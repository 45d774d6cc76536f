import type { AgentEvent } from "@rockbot/contracts";
import { expect, test } from "vitest";
import type { FamilySession } from "../words/family-session.ts";
import { RunningSession } from "./running-session.ts";

const usage = { inputTokens: 10, outputTokens: 5 };
const facts = (turnId: string) => ({
  sessionId: `session of ${turnId}`,
  turnId,
  agent: "clerk",
  startedAt: 2,
  usage: () => usage,
});
const finished = (toolName: string, isError = false): AgentEvent => ({
  sessionId: "s",
  turnId: "t",
  sequence: 1,
  at: "2026-01-01T00:00:00Z",
  kind: "tool_finished",
  toolName,
  isError,
  durationMs: 7,
});

/** What a process before has left: a child that ran, and one that had ended. */
const left: FamilySession = {
  sessionId: "trip",
  turnId: "root",
  state: "running",
  startedAt: 1,
  usage,
  calls: [{ tool: "web_search", count: 2, failed: 1, ms: 9 }],
  children: [
    { sessionId: "sub-a", turnId: "a", agent: "clerk", state: "running", startedAt: 1, usage, calls: [], children: [] },
    {
      sessionId: "sub-b",
      turnId: "b",
      agent: "clerk",
      state: "ended",
      finish: "stop",
      startedAt: 1,
      usage,
      calls: [],
      children: [],
    },
  ],
};

test("a turn that is taken up goes on with what was left of it: children that run again are theirs, and one that nobody goes on with is lost", () => {
  const session = new RunningSession(facts("root"), left);
  session.hear(finished("web_search", true));
  expect(session.view()).toMatchObject({
    state: "running",
    startedAt: 1,
    calls: [{ tool: "web_search", count: 3, failed: 2, ms: 16 }],
  });
  session.end({ finish: "stop" });
  expect(session.view().children.map(({ turnId, state }) => [turnId, state])).toEqual([
    ["a", "lost"],
    ["b", "ended"],
  ]);
  const again = new RunningSession(facts("root"), left);
  again.begin(facts("a")).end({ finish: "limit" });
  again.end({ finish: "stop" });
  expect(again.view().children).toMatchObject([
    { turnId: "a", state: "ended", finish: "limit", startedAt: 1 },
    { turnId: "b" },
  ]);
});

test("a child whose result an earlier process has kept is there, without running", () => {
  const session = new RunningSession(facts("root"));
  const ended = { ...(left.children[1] as FamilySession), children: left.children };
  session.add(ended);
  expect(session.view().children).toEqual([ended]);
});

test("a turn is cancelled by its id wherever it stands in the family, and the others go on", () => {
  const session = new RunningSession(facts("root"));
  const child = session.begin(facts("a"));
  const grandchild = child.begin(facts("b"));
  expect(session.cancel("b")).toBe(true);
  expect([session.signal.aborted, child.signal.aborted, grandchild.signal.aborted]).toEqual([false, false, true]);
  expect(grandchild.signal.reason).toMatchObject({ code: "cancelled" });
  expect(session.cancel("none")).toBe(false);
  session.end({ finish: "stop" });
  expect(session.cancel("root")).toBe(false);
});

test("calls of more than 64 tools are counted together beyond them", () => {
  const session = new RunningSession(facts("root"));
  for (let i = 0; i < 70; i++) session.hear(finished(`tool_${i}`));
  const { calls } = session.view();
  expect(calls).toHaveLength(65);
  expect(calls.at(-1)).toEqual({ tool: "others", count: 6, failed: 0, ms: 42 });
});
