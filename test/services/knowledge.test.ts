import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost, postgresMissing, startOwnPostgres, startOwnRedis, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

const missing = await postgresMissing();

test("the knowledge tools work over RabbitMQ, and keep what was saved over a restart of their service", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  const env = { BUS_URL: broker.url, REDIS_URL: redis.url, DATA_DIRECTORY: folder.path, OFFER_SEARCH: "true" };
  await using bus = await connectBus(broker.url, { name: "test" });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  const by = (name: string) => ({ onBehalfOf: name, timeoutMs: 30_000 });
  await using first = await startService("knowledge-tools", env);
  const saved = await caller.call("knowledge_save", { title: "Checklist", body: "Tag the release.", space: "shared" }, by("alice"));
  const { id } = saved.structured as { id: string };
  first.kill("SIGKILL");
  await first.ended;
  await using _second = await startService("knowledge-tools", env);
  for (const name of ["knowledge_search", "search"])
    expect((await caller.call(name, { query: "release", authors: ["Alice", "eve"] }, by("bob"))).structured).toMatchObject({
      items: [{ id, title: "Checklist" }],
      errors: [expect.stringContaining('invalid authors: "eve"')],
    });
  expect((await caller.call("knowledge_get", { id }, by("bob"))).structured).toMatchObject({ body: "Tag the release.", owner: "alice" });
  await expect(caller.call("knowledge_save", { id, title: "Mine" }, by("bob"))).rejects.toMatchObject({ code: "denied" });
});

test.skipIf(missing !== undefined)(
  `two instances over one PostgreSQL see each other's items, and each what the other announces${missing === undefined ? "" : `: skipped, as ${missing}`}`,
  { timeout: 240_000 },
  async () => {
    await using broker = await ownVirtualHost();
    await using redis = await startOwnRedis();
    await using postgres = await startOwnPostgres();
    const env = { BUS_URL: broker.url, REDIS_URL: redis.url, DATABASE_URL: await postgres.ownDatabase() };
    await using bus = await connectBus(broker.url, { name: "test" });
    await using caller = await createToolCaller(bus, { agent: "gateway" });
    await using one = await startService("knowledge-tools", env);
    await using _two = await startService("knowledge-tools", env);
    const save = (i: number) =>
      caller.call("knowledge_save", { title: `Item ${i}`, body: "the words", categories: ["Seen"], space: "shared" }, { timeoutMs: 60_000 });
    await Promise.all(Array.from({ length: 20 }, (_, i) => save(i)));
    one.kill("SIGTERM");
    expect(await one.ended).toBe(0);
    const found = await caller.call("knowledge_search", { query: "words", max_results: 50 }, { onBehalfOf: "bob", timeoutMs: 60_000 });
    expect((found.structured as { items: unknown[] }).items).toHaveLength(20);
    const schema = () => caller.toolsOf("bob").find(({ name }) => name === "knowledge_search")?.parametersSchema ?? "";
    await expect.poll(schema, { timeout: 60_000 }).toContain('"enum":["Seen"]');
  },
);
