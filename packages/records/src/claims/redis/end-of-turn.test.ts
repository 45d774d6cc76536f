import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { endOfTurn } from "./end-of-turn.ts";

test("what is given in one turn runs at its end in one go, and what is given meanwhile in the next", async () => {
  const atEndOfTurn = endOfTurn();
  const ran: string[] = [];
  atEndOfTurn(() => {
    ran.push("first");
    process.nextTick(() => ran.push("after both"));
    atEndOfTurn(() => ran.push("next turn"));
  });
  atEndOfTurn(() => ran.push("second"));
  expect(ran).toEqual([]);
  await turn();
  expect(ran).toEqual(["first", "second", "after both"]);
  await turn();
  expect(ran).toEqual(["first", "second", "after both", "next turn"]);
});
