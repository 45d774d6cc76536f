import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { createMemoryClaimStore } from "@rockbot/records/claims";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { heldTool, testPolicy, testSet, testTool } from "../test-tools.ts";

const HELD_UP = "everyone: { allow: ['*'], rules: [{ tools: ['*'], concurrency: 1 }] }";

test("a call that is refused before it runs leaves no claim: the same call can be made again", async () => {
  const policy = await testPolicy(HELD_UP);
  await using bus = createMemoryBus();
  await using claims = createMemoryClaimStore();
  const held = heldTool("pay");
  await using _service = await serveTools(bus, testSet(held.tool), { service: "pay", policy, claims });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const first = [caller.call("pay", {}), caller.call("pay", {})]; // one runs, one waits
  await expect.poll(() => held.running.length).toBe(1);
  const key = { caller: "caller", toolCallId: "again" };
  await expect
    .poll(() => caller.call("pay", {}, { toolCallId: "again" }).catch((error: unknown) => error))
    .toMatchObject({ code: "overloaded" });
  expect(await claims.look(key)).toBeUndefined();
  await expect
    .poll(() => {
      held.endAll();
      return held.count;
    })
    .toBe(2);
  held.endAll();
  await Promise.all(first);
  const again = caller.call("pay", {}, { toolCallId: "again" });
  await expect.poll(() => held.running.length).toBe(1);
  held.endAll();
  expect(await again).toMatchObject({ content: "ended" });
  expect(await claims.look(key)).toMatchObject({ state: "done" });
});

test("the log says which side a line on a call is of", async () => {
  const lines: string[] = [];
  const log = {
    ...silentLogger,
    debug: ({ side }: { side?: string }, text: string) => void (side === undefined || lines.push(`${side}: ${text}`)),
  };
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(testTool("say", async () => "fine")), { service: "tests", log });
  await using caller = await createToolCaller(bus, { agent: "caller", log });
  await caller.call("say", {});
  expect(lines).toEqual([
    "caller: tool started",
    "service: tool started",
    "service: tool finished",
    "caller: tool finished",
  ]);
});

test("who may not use a tool does not learn its arguments, and is not counted", async () => {
  const policy = await testPolicy(`
callers: { denied: { deny: ["*"] } }
everyone: { allow: ['*'], rules: [{ tools: ["*"], rate: { calls: 1, perSeconds: 3600 } }] }
`);
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(testTool("tool", async () => "ok")), {
    service: "tool",
    policy,
  });
  await using denied = await createToolCaller(bus, { agent: "denied" });
  for (let i = 0; i < 3; i++) await expect(denied.call("tool", "not JSON")).rejects.toMatchObject({ code: "denied" });
});

test("wrong arguments are counted, as they cost their service too", async () => {
  const policy = await testPolicy(
    "everyone: { allow: ['*'], rules: [{ tools: ['*'], rate: { calls: 2, perSeconds: 3600 } }] }",
  );
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(testTool("tool", async () => "ok")), {
    service: "tool",
    policy,
  });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const codes: string[] = [];
  for (let i = 0; i < 3; i++)
    await caller.call("tool", "not JSON").catch(({ code }: { code: string }) => codes.push(code));
  expect(codes).toEqual(["invalid_arguments", "invalid_arguments", "rate_limited"]);
});

test("a kept result waits for no turn, and is counted as a call", async () => {
  const policy = await testPolicy(
    "everyone: { allow: ['*'], rules: [{ tools: [read], concurrency: 1, rate: { calls: 3, perSeconds: 3600 } }] }",
  );
  await using bus = createMemoryBus();
  const held = heldTool("read", { readOnly: true, cacheSeconds: 3_600 });
  await using _service = await serveTools(bus, testSet(held.tool), { service: "read", policy });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const first = caller.call("read", { page: 1 });
  await expect.poll(() => held.running.length).toBe(1);
  held.endAll();
  await first;
  const busy = caller.call("read", { page: 2 });
  await expect.poll(() => held.running.length).toBe(1);
  expect(await caller.call("read", { page: 1 })).toMatchObject({ content: "ended" });
  await expect(caller.call("read", { page: 1 })).rejects.toMatchObject({ code: "rate_limited" });
  held.endAll();
  await busy;
});

test("a policy that is taken from a caller takes what was kept for it too", async () => {
  const allowing = await testPolicy("everyone: { allow: ['*'] }");
  const denying = await testPolicy("callers: { caller: { deny: [read] } }");
  let current = allowing.current();
  await using bus = createMemoryBus();
  const read = testTool("read", async () => "secret", { readOnly: true, cacheSeconds: 3_600 });
  await using _service = await serveTools(bus, testSet(read), {
    service: "read",
    policy: { ...allowing, current: () => current },
  });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  expect(await caller.call("read", {})).toMatchObject({ content: "secret" });
  current = denying.current();
  await expect(caller.call("read", {})).rejects.toMatchObject({ code: "denied" });
});

test("a service that runs as many calls as it may still refuses, and answers from what it keeps", async () => {
  const policy = await testPolicy("callers: { caller: { allow: ['*'] } }");
  await using bus = createMemoryBus();
  const held = heldTool("hold");
  const kept = testTool("read", async () => "kept", { readOnly: true, cacheSeconds: 60 });
  await using _service = await serveTools(bus, testSet(held.tool, kept), { service: "hold", concurrency: 1, policy });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await using denied = await createToolCaller(bus, { agent: "denied" });
  await caller.call("read", {});
  const running = caller.call("hold", {});
  await expect.poll(() => held.running.length).toBe(1);
  await expect(denied.call("hold", {})).rejects.toMatchObject({ code: "denied" });
  expect(await caller.call("read", {})).toMatchObject({ content: "kept" });
  held.endAll();
  expect(await running).toMatchObject({ content: "ended" });
});
