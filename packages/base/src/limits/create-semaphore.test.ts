import { expect, test } from "vitest";
import { createSemaphore } from "./create-semaphore.ts";

test("no more run at once than there are permits, in the order of asking", async () => {
  const semaphore = createSemaphore(2);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const work = async (i: number): Promise<void> => {
    using _permit = await semaphore.acquire();
    begun.push(i);
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
  };
  await Promise.all([0, 1, 2, 3, 4, 5].map(work));

  expect(most).toBe(2);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
});

test("who gives up gets the signal's reason and takes no permit, and the next is woken all the same", async () => {
  const semaphore = createSemaphore(1);
  const abort = new AbortController();
  const held = await semaphore.acquire();
  const given = semaphore.acquire(abort.signal);
  const next = semaphore.acquire();
  abort.abort(new Error("given up"));
  held[Symbol.dispose]();

  await expect(given).rejects.toThrow("given up");
  using _permit = await next;
  await expect(semaphore.acquire(abort.signal)).rejects.toThrow("given up");
});

test("a permit that arrives as its asker gives up is passed on when it is disposed of", async () => {
  const semaphore = createSemaphore(1);
  const abort = new AbortController();
  const held = await semaphore.acquire();
  const asked = semaphore.acquire(abort.signal);
  const next = semaphore.acquire();
  held[Symbol.dispose]();
  abort.abort(new Error("too late"));

  (await asked)[Symbol.dispose]();
  using _permit = await next;
});

test("a permit that is disposed of twice is given back once", async () => {
  const semaphore = createSemaphore(1);
  const first = await semaphore.acquire();
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  using _second = await semaphore.acquire();
  const third = semaphore.acquire(AbortSignal.timeout(20));

  await expect(third).rejects.toMatchObject({ name: "TimeoutError" });
});

test.each([0, -1, 1.5, Number.NaN])("%d is no number of permits", (count) => {
  expect(() => createSemaphore(count)).toThrow(RangeError);
});
