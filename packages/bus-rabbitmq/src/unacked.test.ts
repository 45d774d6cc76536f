import { expect, test } from "vitest";
import { Unacked } from "./unacked.ts";

function recorder(): { unacked: Unacked; said: [number, boolean][] } {
  const said: [number, boolean][] = [];
  return { said, unacked: new Unacked((tag, isMultiple) => said.push([tag, isMultiple]), setImmediate) };
}

test("acknowledges the oldest finished deliveries by one ack, those behind a gap one by one", () => {
  const { unacked, said } = recorder();
  for (const tag of [1, 2, 3, 4, 5, 6]) unacked.add(tag);
  for (const tag of [6, 2, 1, 4]) unacked.finish(tag);
  unacked.flush();
  expect(said).toEqual([
    [2, true],
    [6, false],
    [4, false],
  ]);
  for (const tag of [3, 5]) unacked.finish(tag);
  unacked.flush();
  expect(said.slice(3)).toEqual([[5, true]]);
});

test("acknowledges what is finished within one turn of the event loop by itself", async () => {
  const { unacked, said } = recorder();
  unacked.add(1);
  unacked.finish(1);
  expect(said).toEqual([]);
  await expect.poll(() => said).toEqual([[1, false]]);
});

test("never acknowledges a delivery that was settled by other means, nor one twice", () => {
  const { unacked, said } = recorder();
  for (const tag of [1, 2, 3]) unacked.add(tag);
  unacked.remove(1);
  unacked.finish(1);
  unacked.finish(2);
  unacked.finish(2);
  unacked.flush();
  unacked.flush();
  expect(said).toEqual([[2, false]]);
});
