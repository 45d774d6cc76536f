import { expect, test } from "vitest";
import { callAgain } from "./call-again.ts";
import { ownerNamed } from "./operator.ts";

const found = (record: object) => ({
  record: { toolName: "echo", caller: "agent", state: "answered" as const, ...record },
  args: '{"a":1}',
});

test("a call that is made again is its caller's, and keeps the mark of untrusted content", () => {
  const owner = ownerNamed("local");
  expect(callAgain(owner, found({ caller: "scheduler.2", hasReadUntrusted: true }))).toEqual({
    as: "scheduler",
    again: { toolName: "echo", args: '{"a":1}', hasReadUntrusted: true },
  });
  expect(callAgain(owner, found({ onBehalfOf: "researcher" }))).toMatchObject({
    as: "researcher",
    again: { hasReadUntrusted: false },
  });
  expect(() => callAgain({ ...owner, callers: ["writer"] }, found({}))).toThrow('Cannot call as "agent"');
});
