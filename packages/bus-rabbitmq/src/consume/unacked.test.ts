import { expect, test, vi } from "vitest";
import { Unacked } from "./unacked.ts";

function recorder(batch = 1): { unacked: Unacked; said: [number, boolean][] } {
  const said: [number, boolean][] = [];
  return {
    said,
    unacked: new Unacked((tag, isMultiple) => said.push([tag, isMultiple]), { batch, atEndOfTurn: setImmediate }),
  };
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

test("waits for a batch to be finished, but not for long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { unacked, said } = recorder(3);
    unacked.flush();
    for (const tag of [1, 2, 3, 4, 5]) unacked.add(tag);
    for (const tag of [1, 2]) unacked.finish(tag);
    await new Promise(setImmediate);
    expect(said).toEqual([]);
    unacked.finish(3);
    await new Promise(setImmediate);
    expect(said).toEqual([[3, true]]);
    unacked.finish(4);
    await new Promise(setImmediate);
    expect(said).toHaveLength(1);
    vi.advanceTimersByTime(10);
    expect(said.slice(1)).toEqual([[4, false]]);
    unacked.finish(5);
    unacked.flush();
    expect(said.slice(2)).toEqual([[5, false]]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("acknowledges at the end of the turn what is finished after a pause", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const { unacked, said } = recorder(3);
    unacked.add(1);
    unacked.flush();
    vi.advanceTimersByTime(100);
    unacked.finish(1);
    expect(vi.getTimerCount()).toBe(0);
    await new Promise(setImmediate);
    expect(said).toEqual([[1, false]]);
  } finally {
    vi.useRealTimers();
  }
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
