import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TurnBatch } from "./turn-batch.ts";

function recordedBatch() {
  const commands: number[][] = [];
  const batch = new TurnBatch(async (items: readonly number[]) => {
    commands.push([...items]);
    if (items.includes(0)) throw new RangeError("there is a zero");
    return items.map((item) => 10 * item);
  }, setImmediate);
  return { commands, batch };
}

test("what is asked for in one turn of the event loop goes in one command, and each gets its own answer", async () => {
  const { commands, batch } = recordedBatch();
  expect(await Promise.all([batch.add(1), batch.add(2), Promise.resolve().then(() => batch.add(3))])).toEqual([
    10, 20, 30,
  ]);
  await turn();
  expect(await batch.add(4)).toBe(40);
  expect(commands).toEqual([[1, 2, 3], [4]]);
});

test("no command has more than 64 items, and one that fails fails those that are in it alone", async () => {
  const { commands, batch } = recordedBatch();
  const answers = await Promise.allSettled(Array.from({ length: 130 }, (_, item) => batch.add(item)));
  expect(commands.map(({ length }) => length)).toEqual([64, 64, 2]);
  expect(answers.map(({ status }) => status)).toEqual([...Array(64).fill("rejected"), ...Array(66).fill("fulfilled")]);
});
