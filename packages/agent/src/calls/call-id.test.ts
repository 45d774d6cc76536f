import { expect, test } from "vitest";
import { type CallPlace, callIdOf } from "./call-id.ts";

const place: CallPlace = { caller: "ann", sessionId: "monday", turnId: "m1", iteration: 1, index: 1 };

test("the id of a call follows from where it stands, and no other place has it", () => {
  const others: Partial<CallPlace>[] = [
    { caller: "ben" },
    { sessionId: "tuesday" },
    { turnId: "m2" },
    { iteration: 0 },
    { index: 0 },
    { caller: "ann,monday", sessionId: "" },
    { iteration: 11, index: 0 },
  ];
  const ids = [place, ...others.map((other) => ({ ...place, ...other }))].map(callIdOf);
  expect(callIdOf({ ...place })).toBe(ids[0]);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});
