import { connectBus } from "@rockbot/bus-rabbitmq";
import { loadConfig } from "@rockbot/process/config";
import { ownVirtualHost, startModelServer, startOwnRedis } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startA2a } from "../../services/a2a/src/a2a.ts";
import { configSchema } from "../../services/a2a/src/generated/config.ts";
import { startService } from "../services/start-service.ts";

test("an agent on the same RabbitMQ is given a task without HTTP, and dies in the middle: the next process ends the task, and its answer comes", {
  timeout: 300_000,
}, async () => {
  await using host = await ownVirtualHost();
  await using redis = await startOwnRedis();
  await using model = await startModelServer([
    { text: "too late", delayMs: 100_000 },
    { text: "Quorum queues replicate with Raft." },
  ]);
  await using bus = await connectBus(host.url);
  const config = loadConfig(configSchema, { env: {}, overrides: { hearBusAgents: true, shutdownGraceMs: 2_000 } });
  await using _a2a = await startA2a(bus, config, { service: "a2a", topic: "tool.invoke.a2a", env: {} });
  await using caller = await createToolCaller(bus, { agent: "tester" });
  await caller.discovered();
  const env = {
    BUS_URL: host.url,
    REDIS_URL: redis.url,
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    BUS_AGENTS: "RockBot",
    SHUTDOWN_GRACE_MS: "2000",
  };

  const before = await startService("agent", env);
  await expect
    .poll(async () => (await caller.call("list_known_agents", {})).content, { timeout: 60_000 })
    .toContain('"RockBot"');
  const result = caller.call(
    "invoke_agent",
    { agent_name: "RockBot", message: "Compare quorum and classic queues." },
    { timeoutMs: 100_000 },
  );
  await expect.poll(() => model.requests.length, { timeout: 60_000 }).toBe(1);
  before.kill("SIGKILL");
  await before.ended;
  await using after = await startService("agent", env);
  expect(await result).toMatchObject({
    content: "Quorum queues replicate with Raft.",
    structured: { agentName: "RockBot", state: "completed" },
  });
  expect(model.requests).toHaveLength(2);
  after.kill("SIGTERM");
  // It takes itself back.
  await expect
    .poll(async () => (await caller.call("list_known_agents", {})).content, { timeout: 30_000 })
    .toContain("No agents");
});
