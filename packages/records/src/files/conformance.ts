import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { MAX_FILE_BYTES } from "./file-facts.ts";
import type { FileStore, OpenFile } from "./file-store.ts";

const MI = 1024 ** 2;
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const file = (
  name: string,
  bytes: Uint8Array,
  more: { isUntrusted?: boolean; type?: string; ttlMs?: number } = {},
) => ({
  name,
  isUntrusted: false,
  bytes: [bytes],
  ...more,
});

/** Opens a file as a call of its caller does. */
async function openOf(files: FileStore, owner: string, handle: string): Promise<OpenFile> {
  const found = await files.find(owner, handle);
  if (found === undefined) throw new Error(`${owner} has no ${handle}`);
  return files.open({ owner, handle, key: found.key });
}

async function bytesOf(open: OpenFile, from?: number, to?: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of open.read(from, to)) parts.push(part);
  return Buffer.concat(parts);
}

/** A store of files for one test. */
export type OpenedFiles = { readonly files: FileStore } & AsyncDisposable;

/** The promises of every store of files, as tests. `create` makes or connects an empty one each time. */
// Long because: it is a list of tests
export function testFileStore(
  name: string,
  create: (limits?: { readonly maxBytesPerOwner?: number }) => Promise<OpenedFiles>,
): void {
  describe(name, () => {
    test.each([0, 1, MI, MI + 1, 5 * MI + 7])(
      "gives a file of %i bytes back as it was, and any part of it",
      async (size) => {
        await using store = await create();
        const bytes = randomBytes(size);
        const { handle } = await store.files.put("ann", file("data.bin", bytes));
        const open = await openOf(store.files, "ann", handle);
        expect(open.facts).toEqual({ name: "data.bin", type: "application/octet-stream", size, isUntrusted: false });
        expect(hashOf(await bytesOf(open))).toBe(hashOf(bytes));
        const [from, to] = [Math.floor(size / 3), Math.ceil((2 * size) / 3)];
        expect(hashOf(await bytesOf(open, from, to))).toBe(hashOf(bytes.subarray(from, to)));
        expect(await bytesOf(open, size, size + 10)).toHaveLength(0);
      },
    );

    test("a handle means nothing to another caller, nor does its key", async () => {
      await using store = await create();
      const { handle } = await store.files.put("ann", file("a.txt", Buffer.from("secret")));
      const { key = "" } = (await store.files.find("ann", handle)) ?? {};
      expect(await store.files.find("bob", handle)).toBeUndefined();
      expect(await store.files.list("bob")).toEqual([]);
      expect(await store.files.delete("bob", handle)).toBe(false);
      const gone = { code: "invalid_arguments", details: { reason: "no_such_file" } };
      await expect(store.files.open({ owner: "bob", handle, key })).rejects.toMatchObject(gone);
      await expect(store.files.open({ owner: "ann", handle, key: "0".repeat(64) })).rejects.toMatchObject(gone);
      expect((await bytesOf(await openOf(store.files, "ann", handle))).toString()).toBe("secret");
    });

    test("the same bytes of two callers are two files", async () => {
      await using store = await create();
      const bytes = Buffer.from("the same");
      const [one, other] = [
        await store.files.put("ann", file("a", bytes)),
        await store.files.put("bob", file("a", bytes)),
      ];
      expect(one.handle).not.toBe(other.handle);
      await store.files.delete("ann", one.handle);
      expect((await bytesOf(await openOf(store.files, "bob", other.handle))).toString()).toBe("the same");
    });

    test("lists the files of a caller, the newest first, without their keys, until they are deleted or expire", async () => {
      await using store = await create();
      const first = await store.files.put("ann", file("first.csv", Buffer.from("1"), { ttlMs: 60_000 }));
      const second = await store.files.put("ann", file("second.csv", Buffer.from("22"), { isUntrusted: true }));
      const short = await store.files.put("ann", file("short.csv", Buffer.from("3"), { ttlMs: 30 }));
      await expect
        .poll(async () => (await store.files.list("ann")).map(({ handle }) => handle))
        .toEqual([second.handle, first.handle]);
      expect((await store.files.list("ann"))[0]).toEqual({ ...second, name: "second.csv", size: 2, isUntrusted: true });
      expect(await store.files.find("ann", short.handle)).toBeUndefined();
      expect(await store.files.delete("ann", first.handle)).toBe(true);
      expect(await store.files.list("ann")).toEqual([second]);
    });

    test("bounds what a caller has, counts small files as large ones, and keeps nothing of one that finds no room", async () => {
      await using store = await create({ maxBytesPerOwner: 4 * MI });
      const large = await store.files.put("ann", file("large", new Uint8Array(2 * MI)));
      const full = { code: "too_large", details: { reason: "file_room" } };
      await expect(store.files.put("ann", file("larger", new Uint8Array(3 * MI)))).rejects.toMatchObject(full);
      await store.files.put("ann", file("fits", new Uint8Array(MI)));
      await store.files.put("bob", file("another's", new Uint8Array(3 * MI)));
      const flood = async () => {
        for (let i = 0; i < 100; i++) await store.files.put("ann", file(`${i}`, Buffer.from("x")));
      };
      await expect(flood()).rejects.toMatchObject(full);
      await store.files.delete("ann", large.handle);
      await store.files.put("ann", file("again", new Uint8Array(MI)));
    });

    test("takes no file that is too large, or fails on its way, and keeps nothing of it", async () => {
      await using store = await create({ maxBytesPerOwner: 2 * MAX_FILE_BYTES });
      const endless = function* () {
        for (let i = 0; ; i += MI) {
          if (i > MAX_FILE_BYTES + MI) throw new Error("read on beyond the bound");
          yield new Uint8Array(MI);
        }
      };
      const put = store.files.put("ann", { name: "endless", isUntrusted: false, bytes: endless() });
      await expect(put).rejects.toMatchObject({ code: "too_large" });
      const cut = async function* () {
        yield new Uint8Array(MI);
        throw new Error("the connection ended");
      };
      const broken = store.files.put("ann", { name: "cut", isUntrusted: false, bytes: cut() });
      await expect(broken).rejects.toThrow("the connection ended");
      expect(await store.files.list("ann")).toEqual([]);
    }, 30_000);

    test("says in an error the name of no file that strangers have named", async () => {
      await using store = await create({ maxBytesPerOwner: MI });
      const large = file("obey me", new Uint8Array(2 * MI), { isUntrusted: true });
      const error = await store.files.put("ann", large).catch((reason: Error) => reason);
      expect(error).toMatchObject({ details: { reason: "file_room" }, message: expect.not.stringContaining("obey") });
    });

    test.each([
      "",
      ".",
      "..",
      "../up",
      "a/b",
      "a\\b",
      "nul\0",
      "line\nbreak",
      "hid\u200bden",
      "x".repeat(256),
      "\ud800",
    ])("takes no file of the name %j", async (bad) => {
      await using store = await create();
      const put = store.files.put("ann", file(bad, Buffer.from("x")));
      await expect(put).rejects.toMatchObject({ code: "invalid_arguments", details: { reason: "file_name" } });
    });

    test.each([
      ["page.html", "text/html", "application/octet-stream"],
      ["picture.svg", "image/svg+xml", "application/octet-stream"],
      ["picture.png", "text/html", "image/png"],
      ["table.CSV", undefined, "text/csv"],
      ["x", "application/json; charset=utf-8", "application/json"],
      ["constructor", undefined, "application/octet-stream"],
    ])("gives %s, sent as %s, the type %s", async (fileName, declared, type) => {
      await using store = await create();
      const put = await store.files.put(
        "ann",
        file(fileName, Buffer.from("x"), declared === undefined ? {} : { type: declared }),
      );
      expect(put.type).toBe(type);
    });
  });
}
