import { testTask } from "@rockbot/a2a/conformance";
import { createMemoryTaskStore, RunningTasks, type StoredTask } from "@rockbot/a2a/serve";
import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { serveTestAgent } from "../chat/test-agent.ts";

test("a turn that another gateway has ended first, and whose question is answered there, ends with its question", async () => {
  await using bus = createMemoryBus();
  await using store = createMemoryTaskStore();
  const task = testTask({ by: "" });
  const asks: StoredTask = { ...task, standing: "input-required", answer: "Which size?" };
  const question = { turnId: task.turnId, messageId: "m", asked: "What?", question: "Which size?" };
  const answered: StoredTask = { ...task, turnId: "b".repeat(32), asked: "40", earlier: [question] };
  await using _agent = await serveTestAgent(bus, async () => {
    await store.write(asks, task);
    await store.write(answered, asks);
    return { text: "Which size?", report: { status: "input-required", format: "text" } };
  });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  await using running = new RunningTasks(caller, { store, timeoutMs: 10_000, log: silentLogger });
  await store.write(task, undefined);

  expect(await running.start(task, { isNew: true }).ended).toMatchObject({
    turnId: task.turnId,
    standing: "input-required",
    answer: "Which size?",
    earlier: [],
  });
  expect(await store.read("", task.id)).toEqual(answered);
});
