import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { StoreFullError, StoreUnavailableError } from "../store-unavailable-error.ts";
import { NOTE_BYTES, type ReplayLimits, type ReplayStore } from "./replay-store.ts";

const key = { caller: "someone", toolCallId: "call" };

/** The promises of every replay store, as tests. `create` makes or connects an empty one each time. */
export function testReplayStore(name: string, create: (limits?: Partial<ReplayLimits>) => Promise<ReplayStore>): void {
  async function open(store: ReplayStore, of = key) {
    const record = await store.open(of, "fresh");
    if (record === undefined) throw new Error("there is no record");
    return record;
  }

  describe(name, () => {
    test("a record is there for the next process, with all that was noted", async () => {
      await using store = await create();
      expect(await store.open(key)).toBeUndefined();
      const first = await open(store);
      const large = randomBytes(1_500_000);
      await store.note(first, "1", "asked", new Uint8Array());
      await store.note(first, "1", "answered", Buffer.from("small"));
      await store.note(first, "2.0", "answered", large);
      const next = await store.open(key, "another");

      expect(next).toMatchObject({ beginning: "fresh", attempt: 2 });
      expect([...(next?.heads ?? [])].sort()).toEqual([
        ["1", "answered"],
        ["2.0", "answered"],
      ]);
      expect(Buffer.from(await store.read(key, "1")).toString()).toBe("small");
      expect(large.equals(await store.read(key, "2.0"))).toBe(true);
      expect((await open(store, { ...key, caller: "other" })).heads.size).toBe(0);
      await expect(store.read({ ...key, caller: "other" }, "1")).rejects.toThrow(StoreUnavailableError);
    });

    test("what an earlier process writes is refused", async () => {
      await using store = await create();
      const first = await open(store);
      const second = await open(store);

      expect(await store.note(first, "1", "late", Buffer.from("late"))).toBe(false);
      await store.end(first);
      expect(await store.note(second, "1", "noted", Buffer.from("noted"))).toBe(true);
      expect((await open(store)).heads).toEqual(new Map([["1", "noted"]]));
    });

    test("a record and a caller have no more than they may, and others have their own", async () => {
      await using store = await create({ maxBytes: 1_000 + NOTE_BYTES, maxBytesPerCaller: 1_500 + 2 * NOTE_BYTES });
      const first = await open(store);
      await store.note(first, "1", "x", new Uint8Array(1_000));
      await expect(store.note(first, "2", "x", new Uint8Array())).rejects.toThrow(StoreFullError);
      const second = await open(store, { ...key, toolCallId: "second" });
      await expect(store.note(second, "1", "x", new Uint8Array(501))).rejects.toThrow(StoreFullError);
      expect(await store.note(second, "1", "x", new Uint8Array(500))).toBe(true);
      const others = await open(store, { ...key, caller: "other" });
      expect(await store.note(others, "1", "x", new Uint8Array(1_000))).toBe(true);
      expect((await open(store)).heads.size).toBe(1);
    });

    test("a record that has ended is still there for a while", async () => {
      await using store = await create();
      const record = await open(store);
      await store.note(record, "1", "x", Buffer.from("kept"));
      await store.end(record);
      expect((await open(store)).heads.size).toBe(1);
    });
  });
}
