import { randomBytes } from "node:crypto";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { FILE_PIECES } from "../../blobs/blob-store.ts";
import { connectRedisBlobStore } from "../../blobs/redis/index.ts";
import { testFileStore } from "../conformance.ts";
import { FileStore } from "../file-store.ts";
import { connectRedisFileList } from "./redis-file-list.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;

async function connect(
  at: string,
  { prefix = uniquePrefix(), ...limits }: { prefix?: string; maxBytesPerOwner?: number } = {},
) {
  const pieces = await connectRedisBlobStore(at, { kind: FILE_PIECES, prefix, ...limits });
  const list = await connectRedisFileList(at, { prefix });
  return {
    files: new FileStore({ pieces, list }),
    async [Symbol.asyncDispose]() {
      await Promise.all([pieces, list].map((part) => part[Symbol.asyncDispose]()));
    },
  };
}

testFileStore("files in Redis", (limits) => connect(url, limits));

test("nothing of a file is in Redis in the clear but in its caller's list, and nothing stays for ever", async () => {
  const prefix = uniquePrefix();
  await using store = await connect(url, { prefix });
  const { handle } = await store.files.put("ann", {
    name: "a.txt",
    isUntrusted: false,
    bytes: [Buffer.from("in the clear")],
  });
  const redis = new Redis(url);
  try {
    const keys = await redis.keys(`${prefix}:{files}:pieces:*`);
    expect(keys.length).toBeGreaterThan(2);
    for (const key of [...keys, ...(await redis.keys(`${prefix}:{files}:lists*`))])
      expect(await redis.pttl(key), key).toBeGreaterThan(0);
    const texts = await Promise.all(
      keys.map(async (key) => `${key} ${(await redis.dumpBuffer(key)).toString("latin1")}`),
    );
    for (const text of texts) for (const word of ["in the clear", "a.txt", handle]) expect(text).not.toContain(word);
    await store.files.delete("ann", handle);
    expect(await redis.exists(...keys.filter((key) => key.includes(":blob:")))).toBe(0);
  } finally {
    redis.disconnect();
  }
});

test("while Redis is away every operation fails in words", async () => {
  await using redis = await startOwnRedis();
  await using store = await connect(redis.url);
  await redis.kill();
  const away = { code: "unavailable", isRetryable: true };
  await expect(
    store.files.put("ann", { name: "a", isUntrusted: false, bytes: [Buffer.from("a")] }),
  ).rejects.toMatchObject(away);
  await expect(store.files.list("ann")).rejects.toMatchObject(away);
  await expect(store.files.open({ owner: "ann", handle: "file_", key: "k" })).rejects.toMatchObject(away);
});
