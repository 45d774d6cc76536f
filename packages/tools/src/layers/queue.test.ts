import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { heldTool, testPolicy, testSet } from "../test-tools.ts";

test("so many calls of a tool by one caller run at once, as many wait, and more are overloaded; other callers are not held", async () => {
  const policy = await testPolicy("everyone: { allow: ['*'], rules: [{ tools: [slow], concurrency: 2 }] }");
  await using bus = createMemoryBus();
  const held = heldTool("slow");
  await using _service = await serveTools(bus, testSet(held.tool), { service: "slow", policy });
  await using busy = await createToolCaller(bus, { agent: "busy" });
  await using other = await createToolCaller(bus, { agent: "other" });
  const outcomes = Array.from({ length: 6 }, () =>
    busy.call("slow", {}).then(
      () => "ok",
      (error: unknown) => error,
    ),
  );
  const refused = await Promise.all([Promise.race(outcomes), Promise.race(outcomes.toReversed())]);
  for (const error of refused)
    expect(error).toMatchObject({
      code: "overloaded",
      isRetryable: true,
      retryAfterMs: 1_000,
      details: { reason: "queue" },
    });
  expect(held.running.length).toBe(2);
  const others = [other.call("slow", {}), other.call("slow", {})];
  await expect.poll(() => held.running.length).toBe(4);
  await expect
    .poll(() => {
      held.endAll();
      return held.count;
    })
    .toBe(6);
  held.endAll();
  const ends = await Promise.all([...outcomes, ...others]);
  expect(ends.filter((end) => end === "ok")).toHaveLength(4);
});

test("callers that wait in a queue have their turns in rotation, and a flood leaves its places to others", async () => {
  const policy = await testPolicy(
    "everyone: { allow: ['*'] }\nqueues: { provider: { tools: ['search_*'], concurrency: 1, waiting: 4 } }",
  );
  await using bus = createMemoryBus();
  const [web, news] = [heldTool("search_web"), heldTool("search_news")];
  await using _service = await serveTools(bus, testSet(web.tool, news.tool), { service: "search", policy });
  await using flood = await createToolCaller(bus, { agent: "flood" });
  await using other = await createToolCaller(bus, { agent: "other" });
  const ends: string[] = [];
  const floods = Array.from({ length: 10 }, () =>
    flood.call("search_web", {}).catch(({ code }: { code: string }) => void ends.push(code)),
  );
  await expect.poll(() => web.running.length).toBe(1);
  const others = [other.call("search_news", {}), other.call("search_news", {})];
  await expect.poll(() => ends.length).toBe(7); // one runs, two of each caller wait
  expect(new Set(ends)).toEqual(new Set(["overloaded"]));
  const turns: string[] = [];
  await expect
    .poll(() => {
      for (const call of [...web.running, ...news.running]) {
        turns.push(call.caller);
        call.end();
      }
      return turns;
    })
    .toEqual(["flood", "flood", "other", "flood", "other"]);
  await Promise.all([...floods, ...others]);
});

test("the wait for a turn ends with the call's deadline, and the call was not started", async () => {
  const policy = await testPolicy("everyone: { allow: ['*'] }\nqueues: { one: { tools: [slow], concurrency: 1 } }");
  await using bus = createMemoryBus();
  const held = heldTool("slow");
  const refused: unknown[] = [];
  const log = {
    ...silentLogger,
    debug: (fields: { status?: string }) => void (fields.status === undefined || refused.push(fields.status)),
  };
  await using _service = await serveTools(bus, testSet(held.tool), { service: "slow", policy, log });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const running = caller.call("slow", {});
  await expect.poll(() => held.running.length).toBe(1);
  await expect(caller.call("slow", {}, { timeoutMs: 100 })).rejects.toMatchObject({ code: "timeout" });
  await expect.poll(() => refused).toHaveLength(1); // at the service too
  held.endAll();
  await running;
  const next = caller.call("slow", {}); // who has left holds no place
  await expect.poll(() => held.running.length).toBe(1);
  held.endAll();
  await next;
  expect(held.count).toBe(2);
});
