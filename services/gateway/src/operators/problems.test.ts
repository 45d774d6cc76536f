import { ProblemCode, watchProblem } from "@rockbot/base";
import type { HeardService } from "@rockbot/tools";
import { expect, test } from "vitest";
import { serviceProblems, toldProblems } from "./problems.ts";

const heard = (service: string, problems: string[], oldestMs = 0): HeardService => ({
  service,
  instances: 1,
  tools: 1,
  isServed: true,
  fault: undefined,
  policies: [],
  backlog: 3,
  reports: [{ instance: "a", epoch: 1, problems, calls: { outcomes: [], durations: [], inFlight: 0, oldestMs } }],
});

test("each fault that processes tell of is one problem with the names of all who have it, this one among them", () => {
  using _ = watchProblem(ProblemCode.RedisAway, () => true);
  const problems = toldProblems([
    heard("web-tools", ["redis_away", "journal_unwritten", "audit_unwritten"]),
    heard("mcp-bridge", ["breaker_open", "policy_refused"]),
    heard("agent", ["journal_unwritten"]),
    heard("of-a-later-release", ["too_hot"]),
  ]);
  expect(problems.map(({ what }) => what)).toEqual([
    expect.stringMatching(/^Redis cannot be reached from this gateway and "web-tools"/),
    expect.stringMatching(/^The journal of "agent" cannot be written/), // without Redis nobody's can be
    expect.stringMatching(/^The audit log of "web-tools" cannot be written/),
    expect.stringMatching(/^Calls of a tool are refused by "mcp-bridge"/),
    expect.stringMatching(/^The changed policy file is refused by "mcp-bridge"/),
    'A fault is told by "of-a-later-release": too_hot',
  ]);
  for (const { next } of problems) expect(next).toMatch(/^(Look|Mend)/);
});

test("a service whose oldest call waits for long is told, one that is busy is not", () => {
  expect(serviceProblems(heard("busy", [], 2_000), undefined)).toEqual([]);
  expect(serviceProblems(heard("late", [], 45_000), undefined)).toEqual([
    expect.objectContaining({ level: "warning", what: expect.stringContaining("has waited 45 s, and 3 more are at") }),
  ]);
});
