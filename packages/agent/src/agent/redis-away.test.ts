import { createMemoryBus } from "@rockbot/bus";
import { startOwnRedis } from "@rockbot/testing";
import { serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { connectRedisTurnStore } from "../store/redis/redis-turn-store.ts";
import { called, said, scriptedModel } from "../test-model.ts";
import { testRequest, testTool } from "../test-turn.ts";
import { createAgent } from "./create-agent.ts";

test("a turn goes on over a Redis that comes back, also without its data, and its calls run once", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisTurnStore(redis.url);
  await using bus = createMemoryBus();
  let runs = 0;
  const effect = testTool("effect", async () => {
    runs++;
    if (runs === 1) await redis.kill();
    return `did ${runs}`;
  });
  await using _service = await serveTools(bus, { tools: [effect] }, { service: "tests" });
  const { model } = scriptedModel([
    called("effect"),
    async () => {
      await redis.restart();
      return called("effect");
    },
    said("done"),
  ]);
  await using agent = await createAgent({ bus, model, store }).start();
  const request = testRequest("Go.");
  const result = await agent.runTurn(request);
  expect(result).toMatchObject({ text: "done", finish: "stop" });
  expect(runs).toBe(2);
  expect(await agent.runTurn(request)).toEqual(result);
  expect((await agent.history("agent", request.sessionId)).map(({ content }) => content)).toEqual(["Go.", "done"]);
});

test("a turn whose Redis stays away makes no call that is not kept, and ends in words; the next one is refused", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisTurnStore(redis.url);
  await using bus = createMemoryBus();
  let runs = 0;
  await using _service = await serveTools(
    bus,
    { tools: [testTool("effect", async () => `did ${++runs}`)] },
    { service: "tests" },
  );
  const { model } = scriptedModel([
    async () => {
      await redis.kill();
      return called("effect");
    },
  ]);
  await using agent = await createAgent({ bus, model, store, limits: { storePatienceMs: 600 } }).start();
  const result = await agent.runTurn(testRequest("Go."));
  expect(result).toMatchObject({ finish: "failed", text: expect.stringContaining("store of conversations is away") });
  expect(runs).toBe(0);
  await expect(agent.runTurn(testRequest("Again."))).rejects.toMatchObject({ code: "unavailable" });
});
