import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RenewingLease } from "./renewing-lease.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What the keeper of a lease says, and how often it was asked. */
const keeper = (answer: boolean | Error) => ({
  answer,
  asked: 0,
  async renew(): Promise<boolean> {
    this.asked += 1;
    if (this.answer instanceof Error) throw this.answer;
    return this.answer;
  },
});

test("a lease is renewed before it ends, also where three requests fail, and no more once it is disposed of", async () => {
  const store = keeper(true);
  const lease = new RenewingLease({ leaseMs: 4_000, renew: () => store.renew() });
  await vi.advanceTimersByTimeAsync(10_000);
  store.answer = new Error("away");
  await vi.advanceTimersByTimeAsync(3_000);
  expect([lease.isHeld, lease.lost.aborted]).toEqual([true, false]);
  store.answer = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lease.isHeld).toBe(true);

  await lease[Symbol.asyncDispose]();
  const { asked } = store;
  await vi.advanceTimersByTimeAsync(10_000);
  await lease.renew();
  expect([lease.isHeld, store.asked]).toEqual([false, asked]);
});

test("a lease whose keeper is away for longer is not held, and not lost either", async () => {
  const store = keeper(new Error("away"));
  await using lease = new RenewingLease({ leaseMs: 4_000, renew: () => store.renew() });
  await vi.advanceTimersByTimeAsync(4_000);
  expect([lease.isHeld, lease.lost.aborted]).toEqual([false, false]);
  store.answer = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([lease.isHeld, lease.lost.aborted]).toEqual([true, false]);
});

test("a lease that somebody else has is lost, and not asked for again", async () => {
  const store = keeper(false);
  await using lease = new RenewingLease({ leaseMs: 4_000, renew: () => store.renew() });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([lease.isHeld, lease.lost.aborted, store.asked]).toEqual([false, true, 1]);
});

test("one that competes has the lease once it is free, and again after it was another's", async () => {
  const store = keeper(false);
  const seen: boolean[] = [];
  await using lease: RenewingLease = new RenewingLease({
    leaseMs: 4_000,
    competes: true,
    renew: () => store.renew(),
    onAsked: () => seen.push(lease.isHeld),
  });
  await lease.renew();
  for (const isFree of [true, false, true]) {
    store.answer = isFree;
    await lease.renew();
  }
  expect(seen).toEqual([false, true, false, true]);
});
