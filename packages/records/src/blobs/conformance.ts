import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type BlobLimits, type BlobStore, MAX_BLOB_BYTES } from "./blob-store.ts";

const options = { owner: "someone", ttlMs: 60_000 };
const newName = () => randomBytes(32).toString("hex");
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** The promises of every blob store, as tests. `create` makes or connects an empty one each time. */
export function testBlobStore(
  name: string,
  create: (limits?: Pick<BlobLimits, "maxBytesPerOwner">) => Promise<BlobStore>,
): void {
  describe(name, () => {
    test.each([1, 256 * 1024, 512 * 1024, 512 * 1024 + 1, MAX_BLOB_BYTES])(
      "gives %i bytes back as they were",
      async (length) => {
        await using store = await create();
        const bytes = randomBytes(length);
        const blob = newName();
        await store.put(blob, bytes, options);
        expect(hashOf(await store.get(blob, length))).toBe(hashOf(bytes));
      },
    );

    test("keeps nothing larger than the largest result", async () => {
      await using store = await create();
      const blob = newName();
      await expect(store.put(blob, new Uint8Array(MAX_BLOB_BYTES + 1), options)).rejects.toMatchObject({
        code: "too_large",
      });
      await expect(store.get(blob, MAX_BLOB_BYTES + 1)).rejects.toMatchObject({ code: "missing" });
    });

    test("writes a blob once, and knows one that is missing or of another length", async () => {
      await using store = await create();
      const blob = newName();
      await store.put(blob, Buffer.from("first"), options);
      await store.put(blob, Buffer.from("other"), options);
      expect(Buffer.from(await store.get(blob, 5)).toString()).toBe("first");
      await expect(store.get(blob, 6)).rejects.toMatchObject({ name: "BlobError", code: "damaged" });
      await expect(store.get(newName(), 5)).rejects.toMatchObject({ name: "BlobError", code: "missing" });
    });

    test("a blob is gone once it is deleted or its time is over", async () => {
      await using store = await create({ maxBytesPerOwner: 20 });
      const [deleted, expired] = [newName(), newName()];
      await store.put(deleted, new Uint8Array(10), options);
      await store.put(expired, new Uint8Array(10), { ...options, ttlMs: 40 });
      await store.delete(deleted);
      await store.delete(deleted);
      await expect(store.get(deleted, 10)).rejects.toMatchObject({ code: "missing" });
      await expect.poll(() => store.get(expired, 10).catch(({ code }) => code)).toBe("missing");
      await store.put(newName(), new Uint8Array(20), options); // both have made room
    });

    test("counts what each owner has, and refuses what would be too much", async () => {
      await using store = await create({ maxBytesPerOwner: 100 });
      const [first, second] = [newName(), newName()];
      await store.put(first, new Uint8Array(60), options);
      await expect(store.put(second, new Uint8Array(41), options)).rejects.toMatchObject({
        code: "full",
        message: expect.stringContaining("100 bytes in all"),
      });
      await expect(store.get(second, 41)).rejects.toMatchObject({ code: "missing" });
      await store.put(second, new Uint8Array(40), options);
      await store.put(first, new Uint8Array(60), options); // the same again costs nothing
      await store.put(newName(), new Uint8Array(100), { ...options, owner: "another" });
      await store.delete(first);
      await store.put(newName(), new Uint8Array(60), options);
    });
  });
}
