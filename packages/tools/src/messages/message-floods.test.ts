import { createMemoryBus } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  MAX_REQUEST_BYTES,
  messages,
  newId,
} from "@rockbot/contracts";
import { type ClaimStore, createMemoryClaimStore } from "@rockbot/records/claims";
import { expect, test, vi } from "vitest";
import { progressListener } from "../call/remote/progress-listener.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { testPolicy, testSet, testTool } from "../test-tools.ts";
import { MessageMeter } from "./message-meter.ts";

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A message of an agent, which needs no library of ours. */
const message = (
  source: string,
  topic: string,
  type: string,
  body: Uint8Array,
  more: Partial<Envelope> = {},
): Envelope => createEnvelope({ topic, type, source, body, ...more });

const cancelOf = (source: string): Envelope =>
  message(
    source,
    "tool.cancel.tests",
    messages.ToolCancel.type,
    encodeMessage("ToolCancel", { toolCallId: newId(), reason: null }),
  );

function requestOf(source: string, more: Partial<Envelope> = {}): Envelope {
  const toolCallId = newId();
  const body = encodeMessage("ToolInvokeRequest", { toolCallId, toolName: "count", arguments: "{}", sessionId: null });
  return message(source, "tool.invoke.tests", messages.ToolInvokeRequest.type, body, {
    correlationId: toolCallId,
    replyTo: `tool.result.${source}`,
    ...more,
  });
}

test("cancels that are too many never reach the store of claims, and another caller's do", async () => {
  await using bus = createMemoryBus();
  await using store = createMemoryClaimStore();
  const cancelled: string[] = [];
  const claims: ClaimStore = Object.assign(Object.create(store) as ClaimStore, {
    claim: store.claim.bind(store),
    cancel: (key: Parameters<ClaimStore["cancel"]>[0]) => {
      cancelled.push(key.caller);
      return store.cancel(key);
    },
  });
  const policy = await testPolicy("everyone: { allow: ['*'], limits: { messages: { cancel: { perSecond: 0.5 } } } }");
  await using _ = await serveTools(bus, testSet(testTool("count", async () => "")), {
    service: "tests",
    claims,
    policy,
  });
  for (let i = 0; i < 200; i++) await bus.publish(cancelOf("flood"));
  await bus.publish(cancelOf("other"));
  await vi.waitFor(() => expect(cancelled).toContain("other"));
  expect(cancelled.filter((caller) => caller === "flood")).toHaveLength(5); // what is saved in 10 s
});

test("of requests that are too many some are answered in words and the rest dropped unread, and another caller is served", async () => {
  await using bus = createMemoryBus();
  let runs = 0;
  const count = testTool("count", async () => String(++runs));
  const policy = await testPolicy("everyone: { allow: ['*'], limits: { messages: { invoke: { perSecond: 1 } } } }");
  await using _ = await serveTools(bus, testSet(count), { service: "tests", policy });
  const answers: Envelope[] = [];
  await using _answers = await bus.subscribe(
    { name: "answers", topics: ["tool.result.*"], kind: "copy" },
    async (answer) => void answers.push(answer),
  );
  for (let i = 0; i < 1_000; i++) await bus.publish(requestOf("flood"));
  await bus.publish(requestOf("other"));
  await vi.waitFor(() => expect(answers.some(({ topic }) => topic === "tool.result.other")).toBe(true));
  expect(runs).toBeLessThan(20); // 10 saved, and what a second brings
  const refused = answers.flatMap(({ type, body }) =>
    type === messages.ToolError.type ? [decodeMessage("ToolError", body)] : [],
  );
  expect(refused.length).toBeGreaterThanOrEqual(200);
  expect(refused.length).toBeLessThan(300);
  expect(refused[0]).toMatchObject({
    value: { code: "rate_limited", isRetryable: true, retryAfterMs: expect.any(Number), toolName: "count" },
  });
});

test("requests that nobody can be answered about leave few copies, and large ones none", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(testTool("count", async () => "")), { service: "tests" });
  const large = Buffer.alloc(MAX_REQUEST_BYTES + 1);
  for (let i = 0; i < 20; i++) await bus.publish({ ...requestOf("flood", { replyTo: "somewhere.else" }), body: large });
  for (let i = 0; i < 200; i++) await bus.publish(requestOf("flood", { replyTo: "somewhere.else" }));
  await bus.publish(requestOf("other", { replyTo: "somewhere.else" }));
  const bodies: { bytes: number; source: string }[] = [];
  await vi.waitFor(async () => {
    bodies.length = 0;
    await bus.visitParked("tests", async ({ message: parked }) => {
      bodies.push({ bytes: parked.body.byteLength, source: parked.source });
      return "keep";
    });
    expect(bodies.some(({ source }) => source === "other")).toBe(true);
  });
  expect(bodies.length).toBeLessThan(20);
  expect(Math.max(...bodies.map(({ bytes }) => bytes))).toBeLessThan(1_000);
});

test("progress that is too much is dropped unread", async () => {
  await using bus = createMemoryBus();
  const policy = await testPolicy("everyone: { allow: ['*'], limits: { messages: { progress: { perSecond: 1 } } } }");
  const meter = new MessageMeter({ policy, log, clock: () => 0 });
  const heard: unknown[] = [];
  await using listener = progressListener(bus, {
    replyTo: "tool.result.me",
    address: "me",
    isGenuine: () => true,
    meter,
  });
  await listener.listen({ toolCallId: "call-1", toolName: "count" }, (update) => void heard.push(update));
  for (let sequence = 0; sequence < 100; sequence++) {
    const body = encodeMessage("ToolProgress", {
      toolCallId: "call-1",
      toolName: "count",
      sequence,
      progress: sequence,
      total: null,
      message: null,
    });
    await bus.publish(message("tests", "tool.progress.me", messages.ToolProgress.type, body));
  }
  const last = encodeMessage("ToolProgress", {
    toolCallId: "call-1",
    toolName: "count",
    sequence: 1_000,
    progress: 1_000,
    total: null,
    message: null,
  });
  await bus.publish(message("another", "tool.progress.me", messages.ToolProgress.type, last));
  await vi.waitFor(() => expect(heard).toContainEqual(expect.objectContaining({ progress: 1_000 })));
  expect(heard).toHaveLength(11);
});
