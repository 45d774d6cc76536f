import type { FamilyTurn } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { closingLines, familyLines } from "./agents-run.ts";

const turn = (more: Partial<FamilyTurn>): FamilyTurn => ({
  turn_id: "t1",
  session_id: "trip",
  depth: 0,
  state: "ended",
  finish: "stop",
  started_at: "2026-01-01T00:00:00.000Z",
  ended_at: "2026-01-01T00:00:02.500Z",
  usage: { input_tokens: 30, output_tokens: 10, cost: 0.00123456, unpriced_tokens: 4 },
  calls: 1,
  failed_calls: 0,
  tools: [{ tool: "agent__clerk", count: 1, failed: 0, ms: 900 }],
  ...more,
});

test("a family is printed as a tree, with a line that adds up the conversation's own turns", () => {
  const usage = { input_tokens: 20, output_tokens: 5, unpriced_tokens: 25 };
  const tools = [{ tool: "web_search", count: 3, failed: 1, ms: 700 }];
  const child = turn({
    turn_id: "t2",
    session_id: "sub-t2",
    depth: 1,
    agent: "clerk",
    finish: "limit",
    usage,
    calls: 3,
    failed_calls: 1,
    tools,
  });
  expect(familyLines([turn({}), child])).toEqual([
    "agent  trip  turn t1  ended  2.5 s  30 + 10 tokens, cost 0.00123, and what 4 tokens cost is unknown  1 call (agent__clerk)",
    "  clerk  sub-t2  turn t2  ended: limit  2.5 s  20 + 5 tokens, cost unknown  3 calls, 1 failed (web_search ×3)",
    "2 turns, 30 + 10 tokens, cost 0.00123, and what 4 tokens cost is unknown, 4 calls. The tokens of a turn are with those that it has called, once they have ended",
  ]);
});

test("a question of an agent is said to be one, with the command that answers it", () => {
  const output = {
    turn_id: "t1",
    session_id: "trip",
    text: "Where?",
    finish: "stop",
    usage: { input_tokens: 1, output_tokens: 2 },
  } as const;
  const last = "session trip, 1 + 2 tokens. What it led to: rockbot agents show --session trip --for alice";
  expect(closingLines("clerk", output, "--session trip --for alice")).toEqual([last]);
  expect(
    closingLines(
      "clerk",
      { ...output, report: { status: "input-required", format: "text" } },
      "--session trip --for alice",
    ),
  ).toEqual(["clerk asks. To answer: rockbot agents run clerk ANSWER --session trip --for alice", last]);
});
