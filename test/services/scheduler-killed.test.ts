import { connectBus } from "@rockbot/bus-rabbitmq";
import { tools } from "@rockbot/contracts";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { ownVirtualHost, startOwnRedis } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

const TASKS = 8;
const POLL = { timeout: 40_000, interval: 50 };

test("a scheduler that is killed with runs out leaves them to another: each fire is one turn, and each turn's answer is noted", {
  timeout: 120_000,
}, async () => {
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  await using bus = await connectBus(broker.url, { name: "test" });
  await using claims = await connectRedisClaimStore(redis.url);
  const turns: string[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const chat = defineTool(tools.agentChat, async ({ session_id = "" }, { toolCallId: turn_id }) => {
    const place = turns.push(turn_id) - 1;
    await gates[place % 2]?.promise;
    return {
      content: "done",
      structured: {
        turn_id,
        session_id,
        text: "done",
        finish: "stop" as const,
        usage: { input_tokens: 9, output_tokens: 1 },
      },
    };
  });
  await using _agent = await serveTools(bus, { tools: [chat] }, { service: "agent", claims });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  const env = { BUS_URL: broker.url, REDIS_URL: redis.url, SHORTEST_INTERVAL_SECONDS: "1", TIMEZONE: "UTC" };

  await using first = await startService("scheduler", env);
  for (let i = 0; i < TASKS; i++) {
    const task = { name: `task ${i}`, cron: "* * * * * *", description: "do", run_once: true };
    await caller.call("schedule_task", task, { sessionId: "s", onBehalfOf: "asker" });
  }
  await expect.poll(() => turns.length, POLL).toBe(TASKS);
  first.kill("SIGKILL");
  await first.ended;
  gates[0]?.resolve(); // these answers come while nobody is there
  await using second = await startService("scheduler", env);
  await expect.poll(() => second.stdout().split("took over a scheduled task").length - 1, POLL).toBe(TASKS);
  gates[1]?.resolve();

  const list = async () =>
    (await caller.call("list_scheduled_tasks", {}, { sessionId: "s", onBehalfOf: "asker" })).content ?? "";
  await expect.poll(async () => (await list()).split(" answered: ").length - 1, POLL).toBe(TASKS);
  expect(await list()).toContain(`Today: ${TASKS} of 500 fires, ${10 * TASKS} of`);
  expect(turns).toHaveLength(TASKS);
  expect(new Set(turns).size).toBe(TASKS);
});
