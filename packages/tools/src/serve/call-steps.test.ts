import { type Bus, createMemoryBus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, Header, messages, ToolError } from "@rockbot/contracts";
import type { CallRecord } from "@rockbot/records/journal";
import { expect, test } from "vitest";
import { createToolCaller, type ToolCaller } from "../call/tool-caller.ts";
import { testPolicy, testSet, testTool } from "../test-tools.ts";
import { serveTools } from "./serve-tools.ts";

const timeoutMs = 60_000;
const fails = async () => {
  throw new ToolError("execution_failed", "It failed");
};

/** What the caller's journal has of a call once it has ended. */
async function recordOf(caller: ToolCaller, name: string, toolCallId: string): Promise<CallRecord> {
  await caller.call(name, {}, { toolCallId, timeoutMs }).catch(() => {});
  return (await caller.journal.find(toolCallId)) as CallRecord;
}

const stepsOf = ({ steps }: CallRecord) => steps.map(({ step }) => step);

test("a caller's journal has when the service admitted, claimed and started a call, in order, and who refused it", async () => {
  await using bus = createMemoryBus();
  const tools = [
    testTool("acts", async () => "done"),
    testTool("reads", async () => "done", { readOnly: true }),
    testTool("fails", fails),
  ];
  await using _service = await serveTools(bus, testSet(...tools), { service: "tests" });
  await using _strict = await serveTools(
    bus,
    testSet(
      testTool("no", async () => "done"),
      testTool("once", async () => "done"),
    ),
    {
      service: "strict",
      topic: "tool.invoke.strict",
      policy: await testPolicy("callers: { agent: { allow: [once], limits: { callsPerSecond: 0.01 } } }"),
    },
  );
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await caller.discovered();

  const acts = await recordOf(caller, "acts", "a");
  expect(stepsOf(acts)).toEqual(["asked", "accepted", "admitted", "claimed", "started", "answered"]);
  expect(acts).toMatchObject({ service: "tests", state: "answered" });
  expect(acts).not.toHaveProperty("layer");
  const times = acts.steps.map(({ at }) => at);
  expect(times).toEqual([...times].sort((a, b) => a - b));

  expect(stepsOf(await recordOf(caller, "reads", "b"))).toEqual([
    "asked",
    "accepted",
    "admitted",
    "started",
    "answered",
  ]);
  const failed = await recordOf(caller, "fails", "c");
  expect(failed).toMatchObject({ code: "execution_failed", service: "tests" });
  expect(failed).not.toHaveProperty("layer");
  const refused = await recordOf(caller, "no", "d");
  expect(refused).toMatchObject({ code: "denied", layer: "authorize", reason: "policy", service: "strict" });
  expect(stepsOf(refused)).toEqual(["asked", "accepted", "failed"]);
  await recordOf(caller, "once", "e");
  expect(await recordOf(caller, "once", "f")).toMatchObject({ code: "rate_limited", layer: "rate" });
});

/** A peer of another make, which answers with these headers. */
const peer = (bus: Bus, headers: Record<string, string>) =>
  bus.subscribe({ name: "peer", topics: ["tool.invoke.peer"] }, async ({ replyTo = "", correlationId, messageId }) => {
    const body = encodeMessage("ToolInvokeResponse", { toolCallId: messageId, toolName: "theirs", content: "hi" });
    await bus.publish(
      createEnvelope({
        topic: replyTo,
        type: messages.ToolInvokeResponse.type,
        source: "peer",
        ...(correlationId === undefined ? {} : { correlationId }),
        headers,
        body,
      }),
    );
  });

test.each([
  ["none", {}, []],
  ["what has no form", { [Header.Steps]: 'admitted=1,"],"state":"answered' }, []],
  ["what is too long", { [Header.Steps]: `admitted=${"1".repeat(300)}` }, []],
  ["names that nobody knows", { [Header.Steps]: "received=5,dreamt=4,started=1" }, ["started"]],
  ["times before the call and after it", { [Header.Steps]: "admitted=999999999,started=0" }, ["admitted", "started"]],
])("of a service that tells %s, a journal has what can be", async (_what, headers, told) => {
  await using bus = createMemoryBus();
  await using _announced = await serveTools(bus, testSet(testTool("theirs", async () => "never")), {
    service: "peer",
    topic: "tool.invoke.peer",
  });
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await caller.discovered();
  await _announced[Symbol.asyncDispose]();
  await using _peer = await peer(bus, headers as Record<string, string>);
  const record = await recordOf(caller, "theirs", "a");
  expect(stepsOf(record).filter((step) => !["asked", "accepted", "failed", "answered"].includes(step))).toEqual(told);
});
