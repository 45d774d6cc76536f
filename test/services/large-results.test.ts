import { createHash, randomBytes } from "node:crypto";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { connectRedisBlobStore } from "@rockbot/records/blobs/redis";
import { ownVirtualHost, startOwnRedis } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";

const MI = 1024 * 1024;

/** Gives a text of so many bytes. */
const texts = defineTool(
  {
    name: "text",
    description: "Gives a text.",
    inputSchema: { type: "object" },
    readOnly: true,
    idempotent: true,
    validateInput: Object.assign((value: unknown): value is { bytes: number } => typeof value === "object", {
      errors: null,
    }),
  },
  async ({ bytes }) => randomBytes(bytes / 2).toString("hex"),
);

test("over RabbitMQ a result of 30 MB comes by Redis, and one of 8 MB by the bus where Redis is away or a peer does not ask", async () => {
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  await using bus = await connectBus(broker.url);
  await using servingBlobs = await connectRedisBlobStore(redis.url);
  await using callingBlobs = await connectRedisBlobStore(redis.url);
  await using _ = await serveTools(bus, { tools: [texts] }, { service: "texts", blobs: servingBlobs });
  await using caller = await createToolCaller(bus, { agent: "asker", blobs: callingBlobs });
  await using peer = await createToolCaller(bus, { agent: "peer" });
  await Promise.all([caller.discovered(), peer.discovered()]);

  const large = await Promise.all([30 * MI, 20 * MI, 9 * MI].map((bytes) => caller.call("text", { bytes })));
  expect(large.map(({ content }) => content?.length)).toEqual([30 * MI, 20 * MI, 9 * MI]);
  expect(new Set(large.map(({ content }) => createHash("sha256").update(String(content)).digest("hex"))).size).toBe(3);
  await expect.poll(async () => (await redis.ctl("keys", "rockbot:{blobs}:blob:*")).trim()).toBe("");

  await expect(peer.call("text", { bytes: 9 * MI })).rejects.toMatchObject({ code: "too_large" });
  expect((await peer.call("text", { bytes: 7 * MI })).content?.length).toBe(7 * MI);
  await redis.kill();
  expect((await caller.call("text", { bytes: 7 * MI })).content?.length).toBe(7 * MI);
  await expect(caller.call("text", { bytes: 9 * MI })).rejects.toMatchObject({ code: "too_large" });
});
