import { registerSecret } from "@rockbot/base/redaction";
import { type Bus, createMemoryBus } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  MAX_REQUEST_BYTES,
  messages,
  type ToolErrorMessage,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { createMemoryClaimStore } from "@rockbot/records/claims";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { MAX_RESULT_BYTES } from "../limits.ts";
import { aborted, testSet, testTool } from "../test-tools.ts";
import { serveTools } from "./serve-tools.ts";

const echo = testTool("echo", async (input) => JSON.stringify(input));

test("answers on the reply topic, with the request's correlation and ids", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  const { envelope, answer } = await ask(bus, {
    body: JSON.stringify({ toolCallId: "call-1", toolName: "echo", arguments: '{"a":1}' }),
    correlationId: "c-1",
  });
  expect(answer).toEqual({ toolCallId: "call-1", toolName: "echo", content: '{"a":1}', isError: false });
  expect(envelope).toMatchObject({ correlationId: "c-1", source: "tests", type: "RockBot.Tools.ToolInvokeResponse" });
});

test("answers on tool.result when the request names no topic", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  const { answer } = await ask(bus, { body: request("echo"), replyTo: undefined }, "tool.result");
  expect(answer).toMatchObject({ content: "{}" });
});

test.each([
  ["a TimeoutError", new DOMException("took too long", "TimeoutError"), { code: "timeout", isRetryable: true }],
  [
    "any other error",
    new Error("no such city\nsecond line"),
    { code: "execution_failed", isRetryable: false, message: '"fail" failed: no such city' },
  ],
  ["something that is no error", "text", { code: "execution_failed", message: '"fail" failed: it gave no reason' }],
])("turns %s into the contract's code", async (_name, thrown, expected) => {
  await using bus = createMemoryBus();
  const fail = testTool("fail", async () => {
    throw thrown;
  });
  await using _ = await serveTools(bus, testSet(fail), { service: "tests" });
  const { answer } = await ask(bus, { body: request("fail") });
  expect(answer).toMatchObject(expected);
  expect(JSON.stringify(answer)).not.toContain("second line");
});

test("an answer holds no secret of the service: not its result, not its error, not a half of it where a message is cut", async () => {
  registerSecret("canary-of-service");
  await using bus = createMemoryBus();
  const echoed = testTool("echoed", async () => ({
    content: "got canary-of-service",
    structured: { headers: ["x canary-of-service"] },
  }));
  const fail = testTool("fail", async () => {
    throw new Error(`${"x".repeat(492)}canary-of-service`);
  });
  await using _ = await serveTools(bus, testSet(echoed, fail), { service: "tests" });

  expect((await ask(bus, { body: request("echoed") })).answer).toMatchObject({
    content: "got [redacted]",
    structured: { headers: ["x [redacted]"] },
  });
  const { answer } = await ask(bus, { body: JSON.stringify({ toolCallId: "call-2", toolName: "fail" }) });
  expect(answer).toMatchObject({ code: "execution_failed" });
  expect(JSON.stringify(answer)).not.toContain("canary");
});

test("tools that are served aside are answered while calls that wait for them have every handler, and no other tool is served there", async () => {
  await using bus = createMemoryBus();
  const quick = testTool("quick", async () => "quick");
  const answered = Promise.withResolvers<void>();
  const slow = testTool("slow", async () => {
    await answered.promise;
    return "slow";
  });
  const aside = { subscription: "tests-short", topic: "tool.invoke.tests-short", tools: ["quick"] };
  await using _ = await serveTools(bus, testSet(quick, slow), { service: "tests", concurrency: 1, waiting: 1, aside });
  await using caller = await createToolCaller(bus, { agent: "alice" });
  await caller.discovered();
  const waiting = [1, 2, 3].map(() => caller.call("slow", {}));
  expect(await caller.call("quick", {})).toMatchObject({ content: "quick" });
  answered.resolve();
  for (const each of await Promise.all(waiting)) expect(each).toMatchObject({ content: "slow" });
  const { answer } = await ask(bus, { body: request("slow"), topic: aside.topic });
  expect(answer).toMatchObject({ code: "tool_not_found" });
});

test("answers an unknown tool with the nearest name", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  const { answer } = await ask(bus, { body: request("ehco") });
  expect(answer).toMatchObject({
    code: "tool_not_found",
    isRetryable: false,
    message: '"tests" has no tool "ehco"; did you mean "echo"?',
  });
});

test.each([
  ["no JSON", "{", "not valid JSON"],
  ["arguments that are no object", "[1]", "an array"],
  ["a key that names a prototype", '{"__proto__":{"x":1}}', "__proto__"],
  ["nesting without end", `${"[".repeat(100_000)}`, "not valid JSON"],
  ["deep nesting", `{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "nested deeper"],
])("refuses arguments with %s, in words", async (_name, args, words) => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  const { answer } = await ask(bus, { body: request("echo", args) });
  expect(answer).toMatchObject({ code: "invalid_arguments", message: expect.stringContaining(words) });
  expect(({} as { x?: number }).x).toBeUndefined();
});

test("answers a request that is no ToolInvokeRequest with all its faults, to whoever sent it", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  const { answer } = await ask(bus, { body: '{"toolCallId":"mine","toolName":7,"arguments":{}}' });
  expect(answer).toMatchObject({ toolCallId: "mine", toolName: "unknown", code: "invalid_arguments" });
  expect((answer as ToolErrorMessage).message).toMatch(/toolName: expected string.*arguments: expected string or null/);
});

test("answers a request that is too large, and goes on", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  const large = await ask(bus, {
    body: request("echo", `{"a":"${"x".repeat(MAX_REQUEST_BYTES)}"}`),
    correlationId: "big",
  });
  expect(large.answer).toMatchObject({ toolCallId: "big", code: "too_large" });
  expect((await ask(bus, { body: request("echo") })).answer).toMatchObject({ content: "{}" });
});

test("answers too_large in place of a result that the bus does not carry", async () => {
  await using bus = createMemoryBus();
  const flood = testTool("flood", async () => "x".repeat(MAX_RESULT_BYTES));
  await using _ = await serveTools(bus, testSet(flood), { service: "tests" });
  expect((await ask(bus, { body: request("flood") })).answer).toMatchObject({ toolName: "flood", code: "too_large" });
});

test.each(["tool.invoke", "tool.result.#", "user.response", "tool.result.a.b.c", "tool.result.", "tool.resultx"])(
  "sends no answer to the topic %s",
  async (replyTo) => {
    await using bus = createMemoryBus();
    let runs = 0;
    const count = testTool("count", async () => String(++runs));
    await using _ = await serveTools(bus, testSet(count), { service: "tests" });
    await publish(bus, { body: request("count"), replyTo });
    await vi.waitFor(async () => expect((await bus.inspect("tests", "parked"))?.messages).toBe(1));
    expect(runs).toBe(0);
  },
);

test("acknowledges an answer whose caller is gone", async () => {
  await using bus = createMemoryBus();
  let runs = 0;
  const count = testTool("count", async () => String(++runs));
  await using _ = await serveTools(bus, testSet(count), { service: "tests" });
  await publish(bus, { body: request("count"), replyTo: "tool.result.gone" });
  await vi.waitFor(() => expect(runs).toBe(1));
  expect((await bus.inspect("tests", "parked"))?.messages).toBe(0);
});

test("ends a tool at the deadline of its caller, also one that ignores its signal", async () => {
  await using bus = createMemoryBus();
  const signals: AbortSignal[] = [];
  const stubborn = testTool("stubborn", async (_input, { signal }) => {
    signals.push(signal);
    await new Promise(() => {});
    return "never";
  });
  await using _ = await serveTools(bus, testSet(stubborn), { service: "tests", drainMs: 10 });
  const byHeader = { "rb-timeout-ms": "30" };
  for (const [index, waiting] of [
    { headers: byHeader },
    { headers: byHeader, ttlMs: 60_000 },
    { ttlMs: 30 },
  ].entries()) {
    const { answer } = await ask(bus, { body: request("stubborn").replace("call-1", `call-${index}`), ...waiting });
    expect(answer).toMatchObject({ code: "timeout", isRetryable: true, details: { mayHaveRun: true } });
    expect(signals.pop()?.aborted).toBe(true);
  }
});

test("does not start a call whose time ran out while it waited: for its turn, where it is answered, or for a handler", async () => {
  await using bus = createMemoryBus();
  const release = Promise.withResolvers<void>();
  let starts = 0;
  const slow = testTool(
    "slow",
    async () => {
      starts++;
      await release.promise;
      return "done";
    },
    { readOnly: true }, // not claimed: each delivery is a call
  );
  await using _ = await serveTools(bus, testSet(slow), { service: "tests", concurrency: 1 });
  const running = ask(bus, { body: request("slow") });
  await vi.waitFor(() => expect(starts).toBe(1));
  const late = await ask(bus, { body: request("slow"), headers: { "rb-timeout-ms": "30" } }, "tool.result.late");
  expect(late.answer).toMatchObject({ code: "timeout" });
  await publish(bus, { body: request("slow"), replyTo: "tool.result.gone" }); // has the other handler
  await publish(bus, { body: request("slow"), replyTo: "tool.result.gone", ttlMs: 10 });
  await new Promise((resolve) => setTimeout(resolve, 20)); // the time to live itself is under test
  release.resolve();
  await running;
  await vi.waitFor(async () => expect((await bus.inspect("tests", "parked"))?.messages).toBe(1));
  expect(starts).toBe(2);
});

test("cancels a running call for the caller who made it, and for nobody else", async () => {
  await using bus = createMemoryBus();
  const started = Promise.withResolvers<void>();
  const patient = testTool("patient", async (_input, { signal }) => {
    started.resolve();
    await aborted(signal);
    return "too late";
  });
  await using _ = await serveTools(bus, testSet(patient), { service: "tests" });
  const asked = ask(bus, { body: request("patient"), source: "owner" });
  await started.promise;
  const cancel = (source: string, toolCallId: string) =>
    bus.publish(
      createEnvelope({
        topic: "tool.cancel.tests",
        type: messages.ToolCancel.type,
        source,
        body: Buffer.from(JSON.stringify({ toolCallId })),
      }),
    );
  await cancel("stranger", "call-1");
  await cancel("owner", "another-call");
  await cancel("owner", "call-1");
  expect((await asked).answer).toMatchObject({ code: "cancelled", isRetryable: false });
});

test("refuses to serve a set with two tools of one name, or under a name that is not one", async () => {
  await using bus = createMemoryBus();
  await expect(serveTools(bus, testSet(echo, echo), { service: "tests" })).rejects.toThrow("same name");
  for (const service of ["Tests", "a.b", "", "probe", "#"])
    await expect(serveTools(bus, testSet(echo), { service })).rejects.toThrow(RangeError);
});

test("answers or dead-letters any bytes with any headers, and lives", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  const answers: unknown[] = [];
  await using _answers = await bus.subscribe(
    { name: "answers", topics: ["tool.result.fuzz"], kind: "copy" },
    async (message) => void answers.push(message),
  );
  let sent = 0;
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      hostileBody,
      fc.dictionary(fc.string(), fc.string()),
      fc.constantFrom("tool.result.fuzz", "somewhere.else", undefined),
      async (body, headers, replyTo) => {
        await bus.publish(
          createEnvelope({
            topic: "tool.invoke.tests",
            type: messages.ToolInvokeRequest.type,
            source: `fuzz-${count++ % 200}`,
            body,
            headers,
            replyTo,
          }),
        );
        if (replyTo !== undefined) sent++;
      },
    ),
    { numRuns: 2_000 },
  );
  await vi.waitFor(
    async () => expect(answers.length + ((await bus.inspect("tests", "parked"))?.messages ?? 0)).toBe(sent),
    { timeout: 10_000 },
  );
  expect((await ask(bus, { body: request("echo") })).answer).toMatchObject({ content: "{}" });
});

const hostileBody = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map((text) => Buffer.from(text)),
  fc
    .record({ toolCallId: fc.anything(), toolName: fc.anything(), arguments: fc.anything() })
    .map((value) => Buffer.from(JSON.stringify(value) ?? "")),
  fc
    .record({
      toolCallId: fc.string(),
      toolName: fc.constantFrom("echo", "other"),
      arguments: fc.oneof(fc.json(), fc.string()),
    })
    .map((value) => Buffer.from(JSON.stringify(value))),
);

const request = (toolName: string, args?: string): string =>
  JSON.stringify({ toolCallId: "call-1", toolName, arguments: args ?? null, sessionId: null });

type Parts = { body: string } & Partial<Omit<Envelope, "body">>;

function publish(bus: Bus, { body, ...more }: Parts): Promise<void> {
  return bus.publish(
    createEnvelope({
      topic: "tool.invoke.tests",
      type: messages.ToolInvokeRequest.type,
      source: "someone",
      body: Buffer.from(body),
      ...more,
    }),
  );
}

/** Publishes a request as any peer might, and takes the first answer. */
async function ask(
  bus: Bus,
  parts: Parts,
  topic = "tool.result.someone",
): Promise<{ envelope: Envelope; answer: ToolInvokeResponse | ToolErrorMessage }> {
  const first = Promise.withResolvers<Envelope>();
  await using _ = await bus.subscribe({ name: "someone", topics: [topic], kind: "copy" }, async (message) =>
    first.resolve(message),
  );
  await publish(bus, { replyTo: topic, ...parts });
  const envelope = await first.promise;
  const decoded = decodeMessage(
    envelope.type === messages.ToolError.type ? "ToolError" : "ToolInvokeResponse",
    envelope.body,
  );
  if (!decoded.ok) throw new Error(decoded.fault.message);
  return { envelope, answer: decoded.value };
}

test.each([
  ["has effects", false, 1],
  ["only reads", true, 0],
])("shared claims are opened where a tool %s: %s", async (_, readOnly, expected) => {
  await using bus = createMemoryBus();
  await using store = createMemoryClaimStore();
  let opened = 0;
  const claims = async () => {
    opened++;
    return store;
  };
  await using _service = await serveTools(bus, testSet(testTool("act", async () => "done", { readOnly })), {
    service: "tests",
    claims,
  });
  expect((await ask(bus, { body: request("act") })).answer).toMatchObject({ content: "done" });
  expect(opened).toBe(expected);
});

test("without shared claims a call with effects that another process may have had is not run, and one that nobody had is", async () => {
  await using memory = createMemoryBus();
  let isRedelivered = false;
  const bus: Bus = {
    ...memory,
    traits: { isDurable: true, verifiesSender: false },
    publish: (...args) => memory.publish(...args),
    subscribe: (options, handle) =>
      memory.subscribe(options, (message, delivery) => handle(message, { ...delivery, isRedelivered })),
  };
  const runs: unknown[] = [];
  const act = testTool("act", async (input) => {
    runs.push(input);
    return "done";
  });
  await using _service = await serveTools(bus, testSet(act), { service: "tests", claims: async () => undefined });
  const call = (toolCallId: string) => ask(memory, { body: JSON.stringify({ toolCallId, toolName: "act" }) });
  expect((await call("first")).answer).toMatchObject({ content: "done" });
  isRedelivered = true;
  expect((await call("first")).answer).toMatchObject({ content: "done" }); // kept: this process has run it
  expect((await call("another's")).answer).toMatchObject({ code: "outcome_unknown", details: { mayHaveRun: true } });
  expect(runs).toHaveLength(1);
});

test.each([
  ["cannot be read", "{"],
  ["names a tool that nobody has", request("none")],
  ["fails", request("fail")],
])("a request that %s is refused by nobody whose delivery another has by now", async (_, body) => {
  await using memory = createMemoryBus();
  const handled = Promise.withResolvers<void>();
  const bus: Bus = {
    ...memory,
    publish: (...args) => memory.publish(...args),
    subscribe: (options, handle) =>
      memory.subscribe(options, (message, delivery) =>
        handle(message, { ...delivery, isOurs: async () => false }).finally(handled.resolve),
      ),
  };
  const fail = testTool("fail", () => Promise.reject(new Error("broken")));
  await using _service = await serveTools(bus, testSet(fail), { service: "tests" });
  const answers: Envelope[] = [];
  await using _answers = await memory.subscribe(
    { name: "a", topics: ["tool.result.someone"], kind: "copy" },
    async (answer) => void answers.push(answer),
  );
  await publish(memory, { body, replyTo: "tool.result.someone" });
  await handled.promise;
  expect(answers).toEqual([]);
});
