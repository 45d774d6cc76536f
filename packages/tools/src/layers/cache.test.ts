import { createMemoryBus } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { aborted, heldTool, testPolicy, testSet, testTool } from "../test-tools.ts";

const KEPT = { readOnly: true, cacheSeconds: 3_600 };

/** A tool whose results tell how often it was run. */
function counter(promises: object) {
  let runs = 0;
  return testTool("count", async () => String(++runs), promises);
}

test("a call is answered from what an equal one of the same caller gave, and never from another caller's", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(counter(KEPT)), { service: "count" });
  await using one = await createToolCaller(bus, { agent: "one" });
  await using two = await createToolCaller(bus, { agent: "two" });
  const first = await one.call("count", { a: 1, b: 2 }, { toolCallId: "first" });
  const again = await one.call("count", { b: 2, a: 1 }, { toolCallId: "again" });
  expect([first, again]).toMatchObject([
    { content: "1", toolCallId: "first" },
    { content: "1", toolCallId: "again" },
  ]);
  expect(await one.call("count", { a: 1, b: 3 })).toMatchObject({ content: "2" });
  expect(await two.call("count", { a: 1, b: 2 })).toMatchObject({ content: "3" });
});

test("a tool that does not say how long its results hold runs each time", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(counter({ readOnly: true })), { service: "count" });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  expect(await caller.call("count", {})).toMatchObject({ content: "1" });
  expect(await caller.call("count", {})).toMatchObject({ content: "2" });
});

test("a result is kept no longer than the tool says, and not at all for whom the policy says so", async () => {
  const policy = await testPolicy(
    "everyone: { allow: ['*'] }\ncallers: { fresh: { rules: [{ tools: [count], cacheSeconds: 0 }] } }",
  );
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(counter({ readOnly: true, cacheSeconds: 0.02 })), {
    service: "count",
    policy,
  });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await caller.call("count", {});
  await expect.poll(async () => (await caller.call("count", {})).content).toBe("2");

  await using _long = await serveTools(bus, testSet({ ...counter(KEPT) }), { service: "long", policy });
  await using fresh = await createToolCaller(bus, { agent: "fresh" });
  const before = Number((await fresh.call("count", {})).content);
  expect(Number((await fresh.call("count", {})).content)).toBe(before + 1);
});

test("failures are not kept", async () => {
  await using bus = createMemoryBus();
  let runs = 0;
  const tool = testTool(
    "flaky",
    async () => {
      runs++;
      if (runs === 1) throw new ToolError("unavailable", "The other side is away.");
      return { content: `run ${runs}`, isError: runs === 2 };
    },
    KEPT,
  );
  await using _service = await serveTools(bus, testSet(tool), { service: "flaky" });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await expect(caller.call("flaky", {})).rejects.toMatchObject({ code: "unavailable" });
  expect(await caller.call("flaky", {})).toMatchObject({ content: "run 2", isError: true });
  expect(await caller.call("flaky", {})).toMatchObject({ content: "run 3" });
  expect(await caller.call("flaky", {})).toMatchObject({ content: "run 3" });
});

test("equal calls that come while one runs share its run and its progress", async () => {
  await using bus = createMemoryBus();
  const held = heldTool("slow", KEPT);
  await using _service = await serveTools(bus, testSet(held.tool), { service: "slow" });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const seen: string[] = [];
  const calls = ["one", "two", "three"].map((toolCallId) =>
    caller.call("slow", {}, { toolCallId, onProgress: () => void seen.push(toolCallId) }),
  );
  const other = caller.call("slow", { other: true });
  await expect.poll(() => held.running.length).toBe(2);
  await expect
    .poll(() => {
      for (const { context } of held.running) context.progress({ message: "half" });
      return new Set(seen).size;
    })
    .toBe(3);
  held.endAll();
  expect((await Promise.all(calls)).map(({ toolCallId, content }) => `${toolCallId} ${content}`)).toEqual([
    "one ended",
    "two ended",
    "three ended",
  ]);
  await other;
  expect(held.count).toBe(2);
});

test("a shared run is aborted when the last who waits for it leaves, and not before", async () => {
  await using bus = createMemoryBus();
  const held = heldTool("slow", KEPT);
  await using _service = await serveTools(bus, testSet(held.tool), { service: "slow" });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const [first, second] = [new AbortController(), new AbortController()];
  const calls = [first, second].map(({ signal }) => caller.call("slow", {}, { signal }));
  await expect.poll(() => held.running.length).toBe(1);
  const { signal } = (held.running[0] as (typeof held.running)[number]).context;
  first.abort();
  await expect(calls[0]).rejects.toMatchObject({ code: "cancelled" });
  const joined = caller.call("slow", {}, { timeoutMs: 30_000 }); // the run goes on, and is shared still
  second.abort();
  await expect(calls[1]).rejects.toMatchObject({ code: "cancelled" });
  expect(signal.aborted).toBe(false);
  held.endAll();
  expect(await joined).toMatchObject({ content: "ended" });
  expect(held.count).toBe(1);

  const alone = new AbortController();
  const last = caller.call("slow", { other: true }, { signal: alone.signal });
  await expect.poll(() => held.running.length).toBe(1);
  const run = (held.running[0] as (typeof held.running)[number]).context.signal;
  alone.abort();
  await expect(last).rejects.toMatchObject({ code: "cancelled" });
  await aborted(run);
});

test("a shared run has until the latest deadline of those who wait for it", async () => {
  await using bus = createMemoryBus();
  const held = heldTool("slow", KEPT);
  await using _service = await serveTools(bus, testSet(held.tool), { service: "slow" });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const hastyEnds = expect(caller.call("slow", {}, { timeoutMs: 2_000 })).rejects.toMatchObject({ code: "timeout" });
  await expect.poll(() => held.running.length).toBe(1);
  const patient = caller.call("slow", {}, { timeoutMs: 60_000 });
  const { context } = held.running[0] as (typeof held.running)[number];
  await expect.poll(() => context.deadline - performance.now()).toBeGreaterThan(10_000);
  await hastyEnds;
  held.endAll();
  expect(await patient).toMatchObject({ content: "ended" });
});
