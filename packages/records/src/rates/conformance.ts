import { randomBytes } from "node:crypto";
import type { Charge } from "@rockbot/base";
import { pause } from "@rockbot/base";
import { describe, expect, test } from "vitest";
import type { RateStore } from "./rate-store.ts";

const HOUR_MS = 3_600_000;

/**
 * The promises of every rate store, as tests. `create` makes or connects one each time; tests use buckets of their own.
 */
export function testRateStore(name: string, create: () => Promise<RateStore>): void {
  describe(name, () => {
    test("gives as much as the bucket holds, and then says when there is more", async () => {
      await using store = await create();
      const call = calls(5);
      for (let i = 0; i < 5; i++) expect(await store.take([call])).toBeUndefined();
      const shortage = await store.take([call]);
      expect(shortage).toEqual({ index: 0, retryAfterMs: expect.any(Number) });
      expect(shortage?.retryAfterMs).toBeGreaterThan(HOUR_MS / 5 - 60_000);
      expect(shortage?.retryAfterMs).toBeLessThanOrEqual(HOUR_MS / 5);
    });

    test("gives exactly as much to many who take at the same time", async () => {
      await using store = await create();
      const call = calls(20);
      const outcomes = await Promise.all(Array.from({ length: 100 }, () => store.take([call])));
      expect(outcomes.filter((shortage) => shortage === undefined)).toHaveLength(20);
    });

    test("has more after the time it says", async () => {
      await using store = await create();
      const call = calls(2, 60);
      await store.take([call]);
      await store.take([call]);
      let shortage = await store.take([call]);
      while (shortage !== undefined) {
        expect(shortage.retryAfterMs).toBeLessThanOrEqual(30);
        await pause(shortage.retryAfterMs);
        const before = shortage.retryAfterMs;
        shortage = await store.take([call]);
        if (shortage !== undefined) expect(shortage.retryAfterMs).toBeLessThan(before); // a timer may end a moment early
      }
    });

    test("takes from all buckets or from none, and names the one that lacks longest", async () => {
      await using store = await create();
      const [plenty, few, one] = [calls(100), calls(2), calls(1)];
      expect(await store.take([plenty, few, one])).toBeUndefined();
      expect(await store.take([plenty, few, one])).toMatchObject({ index: 2 });
      expect(await store.take([plenty, few])).toBeUndefined(); // the refused call has taken nothing
      expect(await store.take([plenty, few])).toMatchObject({ index: 1 });
      expect(await store.take([few, one, plenty])).toMatchObject({ index: 1 });
      for (let i = 0; i < 98; i++) expect(await store.take([plenty])).toBeUndefined();
      expect(await store.take([plenty])).toMatchObject({ index: 0 });
    });

    test("takes what a call costs, and never gives more than the bucket can hold", async () => {
      await using store = await create();
      const bytes = (cost: number): Charge => ({ ...bucket, cost });
      const bucket = calls(1_000);
      expect(await store.take([bytes(600)])).toBeUndefined();
      expect(await store.take([bytes(600)])).toMatchObject({ index: 0 });
      expect(await store.take([bytes(400)])).toBeUndefined();
      expect(await store.take([{ ...calls(1_000), cost: 1_001 }])).toMatchObject({ index: 0 });
      expect(await store.take([])).toBeUndefined();
    });

    test("a bucket that owes has to fill up first, and owes at most what it holds", async () => {
      await using store = await create();
      const bucket = calls(1_000);
      await store.charge({ ...bucket, cost: 1_500 });
      const shortage = await store.take([bucket]);
      expect(shortage?.retryAfterMs).toBeGreaterThan(HOUR_MS / 2 - 60_000);
      expect(shortage?.retryAfterMs).toBeLessThan(HOUR_MS / 2 + 60_000);
      await store.charge({ ...bucket, cost: 1_000_000 });
      expect((await store.take([bucket]))?.retryAfterMs).toBeLessThan(HOUR_MS + 60_000);
    });

    test("has again what is given back, and never more than it holds", async () => {
      await using store = await create();
      const bucket = calls(10);
      expect(await store.take([{ ...bucket, cost: 10 }])).toBeUndefined();
      await store.charge({ ...bucket, cost: -4 });
      expect(await store.take([{ ...bucket, cost: 4 }])).toBeUndefined();
      expect(await store.take([bucket])).toMatchObject({ index: 0 });
      await store.charge({ ...bucket, cost: -1_000 });
      expect(await store.take([{ ...bucket, cost: 10 }])).toBeUndefined();
      expect(await store.take([bucket])).toMatchObject({ index: 0 });
    });

    test("keeps buckets apart", async () => {
      await using store = await create();
      const own = randomBytes(6).toString("hex");
      for (const suffix of ["", "a", "A", ":", "{}", "*", "é", "\n", "__proto__"]) {
        expect(await store.take([{ ...calls(1), key: own + suffix }])).toBeUndefined();
      }
    });
  });
}

/** A bucket of its own for so many calls, from which one is taken. */
const calls = (amount: number, perMs = HOUR_MS): Charge => ({
  key: randomBytes(8).toString("hex"),
  amount,
  perMs,
  cost: 1,
});
