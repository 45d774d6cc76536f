import { ProblemCode, watchProblem } from "@rockbot/base";
import { createMemoryBus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { testSet, testTool } from "../test-tools.ts";
import { serveTools } from "./serve-tools.ts";

test("a service's heartbeats say what it has done, which release it is, and what is wrong with it", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(testTool("one", async () => "done")), { service: "counting" });
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await caller.discovered();
  for (let i = 0; i < 3; i++) await caller.call("one", {});
  await expect(caller.call("one", "[]")).rejects.toMatchObject({ code: "invalid_arguments" });
  using _problem = watchProblem(ProblemCode.RedisAway, () => true);

  const said = () => caller.reports().get("counting")?.[0];
  await expect
    .poll(said, { timeout: 20_000 })
    .toMatchObject({ version: expect.any(String), calls: { inFlight: 0, oldestMs: 0 }, problems: ["redis_away"] });
  await expect
    .poll(() => said()?.calls?.outcomes, { timeout: 20_000 })
    .toEqual(expect.arrayContaining([{ code: "ok", count: 3 }]));
  expect(said()?.calls?.durations.reduce((sum, count) => sum + count, 0)).toBe(3);
});

test("a service that says nothing of its calls is as good a service, and nothing is known of them", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await using _requests = await bus.subscribe({ name: "plain", topics: ["tool.invoke.plain"] }, async () => {});
  const plain = { service: "plain", instance: "i", epoch: 1, hash: "0".repeat(16) };
  const say = (type: string, body: Uint8Array) =>
    bus.publish(createEnvelope({ topic: "tool.announce.plain", type, source: "plain", body }));
  const page = { ...plain, page: 0, pages: 1, tools: [], guides: [] };
  await say(messages.ToolAnnouncement.type, encodeMessage("ToolAnnouncement", page));
  await say(messages.ToolHeartbeat.type, encodeMessage("ToolHeartbeat", plain));
  await expect
    .poll(() => caller.services(), { timeout: 20_000 })
    .toEqual([
      expect.objectContaining({ service: "plain", isServed: true, backlog: 0, reports: [{ instance: "i", epoch: 1 }] }),
    ]);
});
