import { generateKeyPairSync } from "node:crypto";
import { type Bus, createMemoryBus, type PublishOptions } from "@rockbot/bus";
import { createEnvelope, Keep } from "@rockbot/contracts";
import { createPolicy, holdPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { createMemoryRunStore } from "@rockbot/runs";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import type { Tool } from "../define/define-tool.ts";
import { aborted, testSet, testTool } from "../test-tools.ts";
import { type ServeToolsOptions, serveTools } from "./serve-tools.ts";

const PROMISES = { readOnly: true, fast: true };

/** A service and its caller on a bus that counts as durable, and what happens on it in order. */
async function startScene(tools: Tool[], options: Partial<ServeToolsOptions> = {}) {
  await using stack = new AsyncDisposableStack();
  const memory = stack.use(createMemoryBus());
  const events: string[] = [];
  const scene = { isRedelivered: false };
  const bus: Bus = {
    ...memory,
    traits: { isDurable: true, verifiesSender: false },
    publish(message, how: PublishOptions = {}) {
      if (message.topic.startsWith("tool.invoke")) events.push(`asked ${how.lane ?? "durably"}`);
      if (message.topic.startsWith("tool.result") && message.correlationId !== undefined)
        events.push(`answered ${message.headers["rb-lane"] ?? (how.isTransient ? "transiently" : "durably")}`);
      return memory.publish(message, how);
    },
    subscribe: (how, handle) =>
      memory.subscribe(how, (message, delivery) =>
        handle(message, { ...delivery, isRedelivered: scene.isRedelivered && how.lane === "fast" }),
      ),
  };
  const write = async ({ outcome }: { readonly outcome: string }) => void events.push(`line ${outcome}`);
  const audit = { isWriting: true, write } as unknown as ServeToolsOptions["audit"];
  stack.use(await serveTools(bus, testSet(...tools), { service: "tests", audit, ...options }));
  const caller = stack.use(await createToolCaller(bus, { agent: "agent" }));
  await caller.discovered();
  const parts = stack.move();
  return { ...parts, events, caller, scene, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const policyOf = async (text: string) => createPolicy(await readPolicy(text, "test"));
const echo = (promises: Parameters<typeof testTool>[2]) => testTool("echo", async () => "done", promises);
const BY_LANE = ["asked fast", "line ok", "answered transiently"];
const DURABLY = ["asked durably", "line ok", "answered durably"];

test.each([
  ["our definition says so", PROMISES, "everyone: { allow: ['*'] }", BY_LANE],
  ["an operator says so", { readOnly: true }, "everyone: { allow: ['*'] }\nfast: { tools: [ech*] }", BY_LANE],
  ["it is read-only, and nobody says so", { readOnly: true }, "everyone: { allow: ['*'] }", DURABLY],
  [
    "an operator takes it away",
    PROMISES,
    "everyone: { allow: ['*'] }\nfast: { tools: [echo], except: [echo] }",
    DURABLY,
  ],
  ["it may change something", { fast: true }, "everyone: { allow: ['*'] }\nfast: { tools: [echo] }", DURABLY],
])("a tool's calls take the lane or do not where %s", async (_, promises, policy, expected) => {
  await using scene = await startScene([echo(promises)], { policy: holdPolicy(await policyOf(policy)) });
  await expect(scene.caller.call("echo", {})).resolves.toMatchObject({ content: "done" });
  expect(scene.events).toEqual(expected);
});

test("a call that is kept only if it waits for people takes the lane, and its record answers for it then", async () => {
  const { publicKey: operatorKey } = generateKeyPairSync("ed25519");
  const policy = `everyone: { allow: ['*'] }
operators: [{ name: ann, tokens: [], may: [decide] }]
approve: [{ tools: [echo], by: [ann], arguments: { required: [ask] } }]`;
  await using runs = createMemoryRunStore();
  const serving = { policy: holdPolicy(await policyOf(policy)), runs, operatorKey };
  await using scene = await startScene([echo(PROMISES)], serving);
  const kept = { keep: Keep.IfParked, timeoutMs: 1_000 };
  await expect(scene.caller.call("echo", {}, kept)).resolves.toMatchObject({ content: "done" });
  expect(scene.events).toEqual(BY_LANE);
  await expect(scene.caller.call("echo", { ask: 1 }, kept)).rejects.toMatchObject({ details: { isKept: true } });
  expect(scene.events.slice(BY_LANE.length)).toEqual(["asked fast", "line parked", "answered durably"]);
  expect(await runs.open("tests", 9)).toHaveLength(1);
});

test("a tool whose calls come to a queue of their own has no lane, nor has one on a bus in this process", async () => {
  const aside = { subscription: "tests-aside", topic: "tool.invoke.tests-aside", tools: ["echo"] };
  await using scene = await startScene([echo(PROMISES)], { aside });
  await scene.caller.call("echo", {});
  expect(scene.events).toEqual(DURABLY);

  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(echo(PROMISES)), { service: "tests" });
  const request = createEnvelope({ topic: "tool.invoke.tests", type: "t", source: "s", body: new Uint8Array() });
  await expect(bus.publish(request, { mandatory: true, lane: "fast" })).rejects.toThrow("nobody subscribes");
});

test("a call that may have been begun is not run from the lane: it is asked by the durable way, and answered once", async () => {
  let runs = 0;
  const count = async () => `run ${++runs}`;
  await using scene = await startScene([testTool("echo", count, PROMISES)]);
  scene.scene.isRedelivered = true;
  await expect(scene.caller.call("echo", {}, { toolCallId: "it" })).resolves.toMatchObject({ content: "run 1" });
  expect(scene.events).toEqual(["asked fast", "line superseded", "answered durable", ...DURABLY]);
  expect(await scene.caller.journal.find("it")).toMatchObject({ lane: "fast_then_durable", state: "answered" });
});

test("a caller that has not heard yet that a tool left the lane is asked to come the durable way", async () => {
  let policy = await policyOf("everyone: { allow: ['*'] }");
  const holder: PolicyHolder = { ...holdPolicy(policy), current: () => policy };
  await using scene = await startScene([echo(PROMISES)], { policy: holder });
  policy = await policyOf("everyone: { allow: ['*'] }\nfast: { except: [echo] }");
  await expect(scene.caller.call("echo", {})).resolves.toMatchObject({ content: "done" });
  expect(scene.events).toEqual(["asked fast", "line superseded", "answered durable", ...DURABLY]);
});

test("a call by the lane ends when its caller gives it up, and at its deadline, and may have run then", async () => {
  const reasons: unknown[] = [];
  const wait = testTool("wait", async (_, { signal }) => reasons.push(await aborted(signal)).toString(), PROMISES);
  await using scene = await startScene([wait]);
  const giveUp = new AbortController();
  const cancelled = scene.caller.call("wait", {}, { signal: giveUp.signal });
  await expect.poll(() => scene.events).toEqual(["asked fast"]);
  giveUp.abort();
  await expect(cancelled).rejects.toMatchObject({ code: "cancelled", details: { mayHaveRun: true } });
  await expect(scene.caller.call("wait", {}, { timeoutMs: 100 })).rejects.toMatchObject({
    code: "timeout",
    details: { mayHaveRun: true },
  });
  await expect.poll(() => reasons.length).toBe(2);
});
