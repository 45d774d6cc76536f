import fc from "fast-check";
import { expect, test } from "vitest";
import { type BoundedQueueLimits, createFairQueue, createFairQueues } from "./create-fair-queue.ts";

/** Enters, and notes under which name it had its turn. */
function entrant(queue: TestQueue, turns: string[], limits = { concurrency: 1, waiting: 10 }) {
  return async (party: string, name = party) => {
    const turn = await queue.enter(party, limits);
    turns.push(turn === undefined ? `${name} refused` : name);
    return turn;
  };
}

/** A queue that can say that nobody has a place in it. */
function testQueue() {
  const queues = createFairQueues();
  return {
    enter: (party: string, limits: BoundedQueueLimits) => queues.enter("tested", party, limits),
    get isIdle() {
      return queues.size === 0;
    },
  };
}
type TestQueue = ReturnType<typeof testQueue>;

test("a party that waits with many gives way to one that waits with few", async () => {
  const queue = testQueue();
  const turns: string[] = [];
  const enter = entrant(queue, turns);
  const first = await enter("flood", "flood 0");
  const rest = [1, 2, 3].map((i) => enter("flood", `flood ${i}`));
  rest.push(enter("other", "other 1"), enter("other", "other 2"));
  first?.[Symbol.dispose]();
  for (const turn of [0, 3, 1, 4, 2]) (await rest[turn])?.[Symbol.dispose]();
  expect(turns).toEqual(["flood 0", "flood 1", "other 1", "flood 2", "other 2", "flood 3"]);
  expect(queue.isIdle).toBe(true);
});

test("when too many wait, the last of the party that has most waiting leaves", async () => {
  const queue = testQueue();
  const turns: string[] = [];
  const enter = entrant(queue, turns, { concurrency: 1, waiting: 3 });
  const first = await enter("flood", "flood 0");
  const waiting = [1, 2, 3].map((i) => enter("flood", `flood ${i}`));
  expect(await enter("flood", "flood 4")).toBeUndefined();
  waiting.push(enter("other", "other 1"));
  expect(await waiting[2]).toBeUndefined();
  expect(await enter("flood", "flood 5")).toBeUndefined();
  waiting.push(enter("third", "third 1")); // the flood has two waiting, one more than a newcomer would have
  expect(await waiting[1]).toBeUndefined();
  first?.[Symbol.dispose]();
  for (const turn of [0, 3, 4]) (await waiting[turn])?.[Symbol.dispose]();
  expect(turns).toEqual([
    "flood 0",
    "flood 4 refused",
    "flood 3 refused",
    "flood 5 refused",
    "flood 2 refused",
    "flood 1",
    "other 1",
    "third 1",
  ]);
  expect(queue.isIdle).toBe(true);
});

test("who gives up leaves its place, and its turn to others", async () => {
  const queue = testQueue();
  const first = await queue.enter("a", { concurrency: 1, waiting: 1 });
  const controller = new AbortController();
  const gone = queue.enter("b", { concurrency: 1, waiting: 1, signal: controller.signal });
  controller.abort(new Error("gone"));
  await expect(gone).rejects.toThrow("gone");
  await expect(queue.enter("b", { concurrency: 1, waiting: 1, signal: controller.signal })).rejects.toThrow("gone");
  const next = queue.enter("c", { concurrency: 1, waiting: 1 });
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose](); // ends one turn only
  (await next)?.[Symbol.dispose]();
  expect(queue.isIdle).toBe(true);
});

test("a limit that has grown gives turns to those who wait, one that has shrunk takes none away", async () => {
  const queue = testQueue();
  const small = { concurrency: 1, waiting: 10 };
  const turns = [await queue.enter("a", small)];
  const waiting = [queue.enter("b", small), queue.enter("c", small)];
  const last = queue.enter("d", { concurrency: 4, waiting: 10 });
  turns.push(...(await Promise.all([...waiting, last])));
  expect(turns.every((turn) => turn !== undefined)).toBe(true);
  const shrunk = queue.enter("e", small);
  for (const turn of turns) turn?.[Symbol.dispose]();
  (await shrunk)?.[Symbol.dispose]();
  expect(queue.isIdle).toBe(true);
});

test("never more run or wait than may, and every one that enters has a turn, is refused, or gives up", async () => {
  const step = fc.record({ party: fc.constantFrom("a", "b", "c"), action: fc.constantFrom("enter", "end", "abort") });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 4 }),
      async (steps, concurrency, waiting) => {
        const queue = testQueue();
        const running: Disposable[] = [];
        const pending = new Map<AbortController, Promise<void>>();
        for (const { party, action } of steps) {
          if (action === "enter") {
            const controller = new AbortController();
            const entered = queue.enter(party, { concurrency, waiting, signal: controller.signal }).then(
              (turn) => {
                if (turn !== undefined) running.push(turn);
                pending.delete(controller);
              },
              () => void pending.delete(controller),
            );
            pending.set(controller, entered);
          } else if (action === "end") running.shift()?.[Symbol.dispose]();
          else pending.keys().next().value?.abort(new Error("gone"));
          await new Promise(setImmediate);
          expect(running.length).toBeLessThanOrEqual(concurrency);
          expect(pending.size).toBeLessThanOrEqual(waiting);
        }
        while (running.length > 0) {
          running.shift()?.[Symbol.dispose]();
          await new Promise(setImmediate);
        }
        expect(pending.size).toBe(0);
        expect(queue.isIdle).toBe(true);
      },
    ),
  );
});

test("a place that is free at once is given without a wait, and none while others wait", async () => {
  const queue = createFairQueue();
  const first = queue.enterNow(1);
  expect(first).toBeDefined();
  expect(queue.enterNow(1)).toBeUndefined();
  const waiting = queue.enter("a", { concurrency: 1 });
  first?.[Symbol.dispose]();
  expect(queue.enterNow(1)).toBeUndefined();
  (await waiting)[Symbol.dispose]();
  expect(queue.enterNow(1)).toBeDefined();
});

test("queues of other names hold nobody up, and a name is forgotten once nobody has a place there", async () => {
  const queues = createFairQueues();
  const limits = { concurrency: 1 };
  const one = await queues.enter("one", "a", limits);
  const next = queues.enter("one", "b", limits);
  const other = await queues.enter("other", "b", limits);
  expect(queues.size).toBe(2);
  one[Symbol.dispose]();
  other[Symbol.dispose]();
  expect(queues.size).toBe(1);
  (await next)[Symbol.dispose]();
  expect(queues.size).toBe(0);
  await expect(queues.enter("one", "a", { ...limits, signal: AbortSignal.abort(new Error("gone")) })).rejects.toThrow(
    "gone",
  );
  expect(queues.size).toBe(0);
});
