import { expect, test } from "vitest";
import { progressNotifications } from "./progress-notifications.ts";
import type { ProgressUpdate } from "./tool-source.ts";

function sentFor(updates: readonly ProgressUpdate[]) {
  const sent: { readonly progress: number; readonly [key: string]: unknown }[] = [];
  const notify = progressNotifications("token", async ({ params }) => void sent.push(params as (typeof sent)[number]));
  for (const update of updates) notify(update);
  return sent;
}

test("numbers are passed on with what they are of, and with their words", () => {
  expect(
    sentFor([
      { progress: 1, total: 4, message: "a" },
      { progress: 2.5, total: 4 },
    ]),
  ).toEqual([
    { progressToken: "token", progress: 1, total: 4, message: "a" },
    { progressToken: "token", progress: 2.5, total: 4 },
  ]);
});

test("updates without a number are counted", () => {
  expect(sentFor([{ message: "a" }, {}, { message: "b" }])).toMatchObject([
    { progress: 1, message: "a" },
    { progress: 2 },
    { progress: 3, message: "b" },
  ]);
});

test("each number is greater than the one before, as the protocol wants it, and no word is lost", () => {
  const sent = sentFor([
    { progress: 5 },
    { progress: 5 },
    { progress: 5, message: "still" },
    { message: "and" },
    { progress: 3 },
    { progress: 6 },
  ]);
  expect(sent.map(({ message }) => message)).toEqual([undefined, "still", "and", undefined]);
  const numbers = sent.map(({ progress }) => progress);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(numbers.map(Math.round)).toEqual([5, 5, 5, 6]);
});
