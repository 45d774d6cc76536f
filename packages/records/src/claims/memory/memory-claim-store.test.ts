import { expect, test } from "vitest";
import { StoreUnavailableError } from "../../store-unavailable-error.ts";
import { type ClaimOptions, RECORD_KEPT_MS, REPLY_KEPT_MS, UNSEEN_CANCEL_KEPT_MS } from "../claim-store.ts";
import { testClaimStore } from "../conformance.ts";
import { createMemoryClaimStore } from "./memory-claim-store.ts";

testClaimStore("MemoryClaimStore", async () => createMemoryClaimStore());

const request: ClaimOptions = { owner: "me", requestHash: "request", leaseMs: 1_000 };
const key = (toolCallId: string) => ({ caller: "agent", toolCallId });
const claimOf = (toolCallId: string) => ({ key: key(toolCallId), owner: "me", epoch: 1, requestHash: "request" });

test("a memory claim store keeps replies for 15 minutes, that a call was cancelled unseen for 20, and that one is done or cancelled for 8 days", async () => {
  let now = 1_000;
  await using store = createMemoryClaimStore({ clock: () => now });
  await store.claim(key("done"), request);
  await store.complete(claimOf("done"), Buffer.from("reply"));
  await store.claim(key("cancelled"), request);
  await store.cancel(key("cancelled"));
  await store.cancel(key("unseen"));
  await store.claim(key("held"), request);
  now += REPLY_KEPT_MS - 1;
  expect(await store.look(key("done"))).toMatchObject({ state: "done", reply: expect.any(Uint8Array) });
  now += 1;
  expect(await store.look(key("done"))).toEqual({ state: "done", reply: undefined });
  now = 1_000 + UNSEEN_CANCEL_KEPT_MS - 1;
  expect(await store.claim(key("unseen"), request)).toEqual({ state: "cancelled" });
  now += 1;
  expect(await store.look(key("unseen"))).toBeUndefined();
  expect(await store.claim(key("unseen"), request)).toMatchObject({ state: "taken" });
  now = 1_000 + RECORD_KEPT_MS - 1;
  const states = async () => [
    (await store.look(key("done")))?.state,
    (await store.look(key("cancelled")))?.state,
    (await store.look(key("held")))?.state,
  ];
  expect(await states()).toEqual(["done", "cancelled", "lapsed"]);
  now += 1;
  expect(await states()).toEqual([undefined, undefined, undefined]);
});

test("a full memory claim store forgets what has ended longest ago, and says since when it forgets nothing", async () => {
  let now = 1_000;
  await using store = createMemoryClaimStore({ clock: () => now, maxRecords: 2 });
  now = 1_100;
  expect(await store.claim(key("a"), request)).toMatchObject({ state: "taken", remembersSince: 1_000 });
  await store.claim(key("b"), request);
  now = 1_500;
  await store.complete(claimOf("b"), Buffer.from("b"));
  now = 1_600;
  await store.complete(claimOf("a"), Buffer.from("a"));
  now = 1_700;
  expect(await store.claim(key("c"), request)).toMatchObject({ state: "taken", remembersSince: 1_500 });
  expect(await store.look(key("b"))).toBeUndefined();
  expect(await store.look(key("a"))).toMatchObject({ state: "done" });
  expect(await store.cancel(key("d"))).toBe("unclaimed");
  expect(await store.look(key("a"))).toMatchObject({ state: "done" }); // what was never asked for takes the place of nothing that was
  now = 2_000;
  expect(await store.claim(key("e"), request)).toMatchObject({ state: "taken", remembersSince: 1_600 });
  expect(await store.look(key("a"))).toBeUndefined();
});

test("a memory claim store full of calls that are being run refuses another, until a lease is over", async () => {
  let now = 1_000;
  await using store = createMemoryClaimStore({ clock: () => now, maxRecords: 2 });
  await store.claim(key("a"), request);
  now = 1_100;
  await store.claim(key("b"), request);
  await expect(store.claim(key("c"), request)).rejects.toThrow(StoreUnavailableError);
  await expect(store.claim(key("c"), request)).rejects.toThrow("all of the 2 there is room for are being run");
  now = 2_000;
  expect(await store.claim(key("c"), request)).toMatchObject({ state: "taken", remembersSince: 1_000 });
  expect(await store.look(key("a"))).toBeUndefined();
  expect(await store.look(key("b"))).toMatchObject({ state: "held" });
});

test("a memory claim store forgets the oldest replies when all together are too large", async () => {
  await using store = createMemoryClaimStore({ maxTotalReplyBytes: 10 });
  for (const id of ["a", "b", "c"]) {
    await store.claim(key(id), request);
    await store.complete(claimOf(id), Buffer.from("12345"));
  }
  expect(await store.look(key("a"))).toEqual({ state: "done", reply: undefined });
  expect(await store.look(key("b"))).toMatchObject({ state: "done", reply: expect.any(Uint8Array) });
  expect(await store.look(key("c"))).toMatchObject({ state: "done", reply: expect.any(Uint8Array) });
});

test("in a memory claim store the replies of one caller push out none of another's", async () => {
  await using store = createMemoryClaimStore({ maxTotalReplyBytes: 12 });
  const complete = async (caller: string, toolCallId: string) => {
    await store.claim({ caller, toolCallId }, request);
    await store.complete({ ...claimOf(toolCallId), key: { caller, toolCallId } }, Buffer.from("12345"));
  };
  await complete("other", "x");
  for (const id of ["a", "b", "c"]) await complete("agent", id);
  expect(await store.look({ caller: "other", toolCallId: "x" })).toMatchObject({ reply: expect.any(Uint8Array) });
  expect([await store.look(key("b")), await store.look(key("c"))]).toMatchObject([
    { reply: undefined },
    { reply: expect.any(Uint8Array) },
  ]);
});

test.each([{ maxRecords: 0 }, { maxRecords: 1.5 }, { maxTotalReplyBytes: -1 }])(
  "a memory claim store refuses %j",
  (options) => {
    expect(() => createMemoryClaimStore(options)).toThrow(RangeError);
  },
);
