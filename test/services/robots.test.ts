import { connectBus } from "@rockbot/bus-rabbitmq";
import {
  ownVirtualHost,
  postgresMissing,
  startModelServer,
  startOwnPostgres,
  startOwnRedis,
  temporaryFolder,
} from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

const missing = await postgresMissing();
const by = (name: string) => ({ onBehalfOf: name, timeoutMs: 60_000 });

test("robots are made over RabbitMQ, and are there after their service was killed", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  await using model = await startModelServer([]);
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  const env = {
    BUS_URL: broker.url,
    REDIS_URL: redis.url,
    DATA_DIRECTORY: folder.path,
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
  };
  await using bus = await connectBus(broker.url, { name: "test" });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  await using first = await startService("agent", env);
  const made = await caller.call(
    "robot_create",
    { name: "clerk", playbook: "Be brief.", tools: ["web_*", "web_serach"] },
    by("alice"),
  );
  expect(made.structured).toMatchObject({
    name: "clerk",
    errors: ['tools: there is no tool "web_serach" for you. Did you mean "web_search"?'],
  });
  first.kill("SIGKILL");
  await first.ended;
  await using _second = await startService("agent", env);
  expect((await caller.call("robot_list", {}, by("alice"))).structured).toMatchObject({
    robots: [{ name: "clerk", is_own: true }],
    total: 1,
  });
  expect((await caller.call("robot_list", {}, by("bob"))).structured).toEqual({ robots: [], total: 0 });
});

test.skipIf(missing !== undefined)(
  `two instances over one PostgreSQL make one robot of a name, and each sees what the other has made${missing === undefined ? "" : `: skipped, as ${missing}`}`,
  { timeout: 240_000 },
  async () => {
    await using model = await startModelServer([]);
    await using broker = await ownVirtualHost();
    await using redis = await startOwnRedis();
    await using postgres = await startOwnPostgres();
    const ours = { BUS_URL: broker.url, REDIS_URL: redis.url, DATABASE_URL: await postgres.ownDatabase() };
    const env = { ...ours, MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey };
    await using bus = await connectBus(broker.url, { name: "test" });
    await using caller = await createToolCaller(bus, { agent: "gateway" });
    await using one = await startService("agent", env);
    await using _two = await startService("agent", env);
    const create = (name: string) =>
      caller.call("robot_create", { name, playbook: "x" }, by("alice")).then(
        () => "made",
        (error: unknown) => (error as { readonly code: string }).code,
      );
    const outcomes = await Promise.all(["a", "a", "a", "a", "b", "c", "d", "e"].map(create));
    expect(outcomes.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => "invalid_arguments"),
      ...Array.from({ length: 5 }, () => "made"),
    ]);
    one.kill("SIGTERM");
    expect(await one.ended).toBe(0);
    expect((await caller.call("robot_list", {}, by("alice"))).structured).toMatchObject({ total: 5 });
  },
);
