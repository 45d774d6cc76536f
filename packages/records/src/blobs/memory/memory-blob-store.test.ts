import { expect, test } from "vitest";
import { testBlobStore } from "../conformance.ts";
import { createMemoryBlobStore } from "./memory-blob-store.ts";

testBlobStore("MemoryBlobStore", async (limits) => createMemoryBlobStore(limits));

test("a process bounds what all owners have together", async () => {
  await using store = createMemoryBlobStore({ maxBytes: 100 });
  await store.put("a", new Uint8Array(60), { owner: "one", ttlMs: 1_000 });
  await expect(store.put("b", new Uint8Array(60), { owner: "two", ttlMs: 1_000 })).rejects.toMatchObject({
    code: "full",
  });
});

test("what nobody has fetched for a minute gives way: to more of its owner, and of who has most to another's", async () => {
  let now = 0;
  await using store = createMemoryBlobStore({ clock: () => now, maxBytesPerOwner: 80, maxBytes: 100 });
  const put = (name: string, owner: string, length: number) =>
    store.put(name, new Uint8Array(length), { owner, ttlMs: 600_000 });
  const isThere = (name: string, length: number) => store.get(name, length).then(Boolean, () => false);
  for (const name of ["a", "b"]) await put(name, "one", 40);
  await expect(put("c", "one", 40)).rejects.toMatchObject({ code: "full" });
  now = 60_000;
  await put("small", "two", 20);
  await put("c", "one", 40);
  expect([await isThere("a", 40), await isThere("b", 40), await isThere("c", 40)]).toEqual([false, true, true]);
  await put("d", "two", 40);
  expect([await isThere("b", 40), await isThere("small", 20)]).toEqual([false, true]);
});
