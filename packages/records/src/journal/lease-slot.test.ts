import { randomBytes } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import { sharedRedisUrl } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import type { JournalStore } from "./journal-store.ts";
import { leaseSlot } from "./lease-slot.ts";
import { connectRedisJournalStore } from "./redis/index.ts";

const url = await sharedRedisUrl();
const newStore = () => connectRedisJournalStore(url, { prefix: `test-${randomBytes(6).toString("hex")}` });
const lease = (store: JournalStore, leaseMs = 800) => leaseSlot(store, "me", { log: silentLogger, leaseMs });

test("processes of one agent get different slots, the lowest that are free", async () => {
  await using store = await newStore();
  await using first = await lease(store);
  const both = await Promise.all([lease(store), lease(store)]);
  await using _second = both[0];
  await using _third = both[1];
  expect([first?.instance, ...both.map((held) => held?.instance).sort()]).toEqual(["0", "1", "2"]);
});

test("a slot that was given back is free at once", async () => {
  await using store = await newStore();
  await (await lease(store))?.[Symbol.asyncDispose]();
  await using next = await lease(store);
  expect(next?.instance).toBe("0");
});

test("the slot of a process that died is waited for and taken, although its lease still holds", async () => {
  await using store = await newStore();
  expect(await store.holdSlot("me", 0, { owner: "dead", leaseMs: 800 })).toBe(true);
  await using next = await lease(store);
  expect(next?.instance).toBe("0"); // and not 1, which is free
});

test("whoever lost its slot is told, and does not give back what is another's", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using store = await connectRedisJournalStore(url, { prefix });
  const mine = await lease(store);
  using redis = connect();
  await redis.client.set(`${prefix}:{journal}:slot:me:0`, "another", "PX", 10_000);
  await mine?.lost;
  await mine?.[Symbol.asyncDispose]();
  expect(await store.holdSlot("me", 0, { owner: "third", leaseMs: 100 })).toBe(false);
});

function connect(): Disposable & { readonly client: Redis } {
  const client = new Redis(url);
  return { client, [Symbol.dispose]: () => client.disconnect() };
}
