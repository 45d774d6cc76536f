import { createMemoryBus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages } from "@rockbot/contracts";
import { createMemoryRateStore } from "@rockbot/records/rates";
import { expect, test } from "vitest";
import { createToolCaller, type ToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { heldTool, testPolicy, testSet, testTool } from "../test-tools.ts";

const echo = (name: string, promises = {}) => testTool(name, async () => name, promises);

/** The codes that so many calls end in, one after the other. */
async function codes(caller: ToolCaller, tool: string, count: number): Promise<string[]> {
  const ends: string[] = [];
  for (let i = 0; i < count; i++)
    ends.push(
      await caller.call(tool, {}).then(
        () => "ok",
        ({ code }: { code: string }) => code,
      ),
    );
  return ends;
}

test("a caller may call each tool so often, and is told when to come back; others are not held", async () => {
  const policy = await testPolicy(
    "everyone: { allow: ['*'], rules: [{ tools: ['*'], rate: { calls: 2, perSeconds: 3600 } }] }",
  );
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(echo("a"), echo("b")), { service: "tools", policy });
  await using busy = await createToolCaller(bus, { agent: "busy" });
  await using other = await createToolCaller(bus, { agent: "other" });
  expect(await codes(busy, "a", 3)).toEqual(["ok", "ok", "rate_limited"]);
  expect(await codes(busy, "b", 3)).toEqual(["ok", "ok", "rate_limited"]);
  expect(await codes(other, "a", 1)).toEqual(["ok"]);
  const error: unknown = await busy.call("a", {}).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "rate_limited",
    isRetryable: true,
    details: { reason: "calls", revision: policy.current().revision },
  });
  expect((error as Error).message).toMatch(
    /^"a" was not run: "busy" has used up its 2 calls in 3600 s\. Try again in 1[78]\d\d s, or do without\.$/,
  );
  expect((error as { retryAfterMs: number }).retryAfterMs).toBeLessThanOrEqual(1_800_000);
});

test("calls a second are counted over all tools", async () => {
  const policy = await testPolicy("everyone: { allow: ['*'], limits: { callsPerSecond: 0.001 } }");
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(echo("a"), echo("b")), { service: "tools", policy });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  expect(await codes(caller, "a", 1)).toEqual(["ok"]);
  expect(await codes(caller, "b", 1)).toEqual(["rate_limited"]);
});

test("instances that share a store share the limits", async () => {
  const policy = await testPolicy(
    "everyone: { allow: ['*'], rules: [{ tools: ['*'], rate: { calls: 6, perSeconds: 3600 } }] }",
  );
  await using bus = createMemoryBus();
  await using rates = createMemoryRateStore();
  await using _one = await serveTools(bus, testSet(echo("a")), { service: "tools", policy, rates });
  await using _two = await serveTools(bus, testSet(echo("a")), { service: "tools", policy, rates });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  expect((await codes(caller, "a", 10)).filter((code) => code === "ok")).toHaveLength(6);
});

test("the bytes of arguments and results are counted together", async () => {
  const policy = await testPolicy("everyone: { allow: ['*'], limits: { bytesPerDay: 10000 } }");
  await using bus = createMemoryBus();
  const large = testTool("large", async () => "x".repeat(6_000));
  await using _service = await serveTools(bus, testSet(large, echo("small")), { service: "tools", policy });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await caller.call("large", { text: "y".repeat(5_000) });
  await expect
    .poll(() => caller.call("small", { a: 1 }).catch((error: unknown) => error))
    .toMatchObject({
      code: "rate_limited",
      details: { reason: "bytes" },
      message: expect.stringContaining('"caller" has used up its 10000 bytes in 86400 s'),
    });
});

test("a repeat of a call with effects that still runs joins it, and is not counted", async () => {
  const policy = await testPolicy(
    "everyone: { allow: ['*'], rules: [{ tools: ['*'], rate: { calls: 1, perSeconds: 3600 } }] }",
  );
  await using bus = createMemoryBus();
  const held = heldTool("pay");
  await using _service = await serveTools(bus, testSet(held.tool), { service: "pay", policy });
  const answers: string[] = [];
  await using _results = await bus.subscribe(
    { name: "results", topics: ["tool.result.agent"], kind: "result" },
    async ({ body, type }) => {
      answers.push(`${type} ${Buffer.from(body).toString()}`);
    },
  );
  const request = { toolCallId: "call", toolName: "pay", arguments: "{}", sessionId: null };
  const send = (body: typeof request) =>
    bus.publish(
      createEnvelope({
        topic: "tool.invoke.pay",
        type: messages.ToolInvokeRequest.type,
        source: "agent",
        replyTo: "tool.result.agent",
        body: encodeMessage("ToolInvokeRequest", body),
      }),
    );
  await send(request);
  await expect.poll(() => held.running.length).toBe(1);
  await send(request);
  await send({ ...request, toolCallId: "another" });
  await expect.poll(() => answers).toHaveLength(1); // another call is counted, and refused
  expect(answers[0]).toContain("rate_limited");
  held.endAll();
  await expect.poll(() => answers).toHaveLength(3);
  for (const answer of answers.slice(1)) expect(answer).toContain('"content":"ended"');
  expect(held.count).toBe(1);
});

test("a call that is delivered again by the bus is not counted again", async () => {
  const policy = await testPolicy(
    "everyone: { allow: ['*'], rules: [{ tools: ['*'], rate: { calls: 1, perSeconds: 3600 } }] }",
  );
  await using bus = createMemoryBus();
  await using rates = createMemoryRateStore();
  const first = heldTool("read", { readOnly: true });
  const second = heldTool("read", { readOnly: true });
  const going = await serveTools(bus, testSet(first.tool), { service: "read", policy, rates, drainMs: 1 });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const call = caller.call("read", {});
  await expect.poll(() => first.running.length).toBe(1);
  await using _next = await serveTools(bus, testSet(second.tool), { service: "read", policy, rates });
  await going[Symbol.asyncDispose]();
  await expect.poll(() => second.running.length).toBe(1);
  second.endAll();
  expect(await call).toMatchObject({ content: "ended" });
  expect(await codes(caller, "read", 1)).toEqual(["rate_limited"]);
});
