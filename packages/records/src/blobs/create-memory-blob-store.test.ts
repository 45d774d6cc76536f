import { expect, test } from "vitest";
import { testBlobStore } from "./conformance.ts";
import { createMemoryBlobStore } from "./create-memory-blob-store.ts";

testBlobStore("MemoryBlobStore", async (limits) => createMemoryBlobStore(limits));

test("a process bounds what all owners have together", async () => {
  await using store = createMemoryBlobStore({ maxBytes: 100 });
  await store.put("a", new Uint8Array(60), { owner: "one", ttlMs: 1_000 });
  await expect(store.put("b", new Uint8Array(60), { owner: "two", ttlMs: 1_000 })).rejects.toMatchObject({ code: "full" });
});
