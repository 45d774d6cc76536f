import { createMemoryBus } from "@rockbot/bus";
import { newId, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ModelRequest } from "@rockbot/llm";
import { sharedRedisUrl } from "@rockbot/testing";
import { createToolCaller, serveTools, type ToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createMemoryTurnStore } from "../store/memory/memory-turn-store.ts";
import { connectRedisTurnStore } from "../store/redis/redis-turn-store.ts";
import { called, modelError, said, scriptedModel } from "../test-model.ts";
import { Mortal } from "../test-mortal.ts";
import { testRequest, testTool } from "../test-turn.ts";
import type { TurnResult } from "../words/turn.ts";
import { createAgent } from "./create-agent.ts";

const redis = await sharedRedisUrl();

/** Runs the story once, in a process that dies at a step, then in others until it ends. */
async function runStory(diesAt: number) {
  await using bus = createMemoryBus();
  const runs: string[] = [];
  const effect = testTool("effect", async ({ name }, { toolCallId }) => {
    runs.push(`${name} ${toolCallId}`);
    return `did ${name}`;
  });
  const read = testTool("look", async () => ({ content: "seen", trust: { level: "untrusted", origin: "page" } }), {
    readOnly: true,
  });
  await using _service = await serveTools(bus, { tools: [effect, read] }, { service: "tests" });
  // Every other story over Redis, so that both stores have each kind of step.
  await using store =
    diesAt % 2 === 1 ? await connectRedisTurnStore(redis, { prefix: `test-${newId()}` }) : createMemoryTurnStore();
  const script = [
    called("look", ["effect", { name: "a" }]),
    called(["effect", { name: "b" }], ["effect", { name: "c" }]),
    said("done"),
  ];
  // By how far the conversation is, as a real model: an answer that was lost is asked for again.
  const newModel = () => scriptedModel([({ messages }) => script[answersIn(messages)] ?? said("too much")]);
  const [{ model }, taker] = [newModel(), newModel()];
  const request = testRequest("Go.");
  const limits = { leaseMs: 100 };

  const mortal = new Mortal(diesAt);
  const firstCaller = await createToolCaller(bus, { agent: "agent", results: "copy" });
  const first = await createAgent({
    bus,
    model,
    store: mortal.store(store),
    caller: mortal.caller(firstCaller),
    limits,
  }).start();
  const ended = first.runTurn(request).then(
    (result): TurnResult | undefined => result,
    () => undefined,
  );
  const early = await Promise.race([ended, mortal.died.promise.then(() => undefined)]);
  await using caller = await createToolCaller(bus, { agent: "agent", results: "copy" });
  await using second = await createAgent({ bus, model: taker.model, store, caller, limits }).start();
  const result = await second.runTurn({ ...request, deadline: performance.now() + 60_000 });
  const history = await second.history("agent", request.sessionId);
  const kept = mortal.kept.has("last") ? 3 : mortal.kept.size;
  void first[Symbol.asyncDispose](); // a dead process ends no turn, and is not waited for
  await firstCaller[Symbol.asyncDispose]();
  return {
    runs,
    result,
    early,
    history,
    steps: mortal.steps,
    kept,
    asked: taker.requests.map(({ messages }) => answersIn(messages)),
  };
}

const answersIn = (messages: ModelRequest["messages"]): number =>
  messages.filter(({ role }) => role === "assistant").length;

test("an agent that dies at any step of a turn leaves it to the next: each call runs once, each kept answer is replayed, and there is one answer", {
  timeout: 120_000,
}, async () => {
  const { steps } = await runStory(Number.POSITIVE_INFINITY);
  expect(new Set(steps.map((step) => step.replace(/^(before|after) /, "")))).toEqual(
    new Set(["take", "addEvents", "addAnswer", "call look", "call effect", "addResult", "end"]),
  );
  for (let diesAt = 1; diesAt <= steps.length; diesAt++) {
    const at = `dies ${steps[diesAt - 1]} (step ${diesAt})`;
    const { runs, result, early, history, kept, asked } = await runStory(diesAt);
    expect(asked, at).toEqual([0, 1, 2].slice(kept)); // what is kept is replayed
    expect(runs.map((run) => run.split(" ")[0]).sort(), at).toEqual(["a", "b", "c"]);
    expect(new Set(runs.map((run) => run.split(" ")[1])).size, at).toBe(3);
    expect(result, at).toMatchObject({ text: "done", finish: "stop", hasReadUntrusted: true });
    if (early !== undefined) expect(early, at).toEqual(result);
    expect(
      history.map(({ content }) => content),
      at,
    ).toEqual(["Go.", "done"]);
  }
});

test("text that is written again, by another agent or after the model broke off, has an event before it that drops the first", async () => {
  await using bus = createMemoryBus();
  await using store = createMemoryTurnStore();
  const request = testRequest("Go.");
  const write =
    (text: string, end: () => Promise<never>) =>
    ({ onText }: ModelRequest) => {
      onText?.(text);
      return end();
    };
  const never = () => new Promise<never>(() => {});
  const first = await createAgent({ bus, model: scriptedModel([write("One", never)]).model, store }).start();
  const left = first.runTurn(request).catch(() => {});
  const log = async () => (await store.events({ caller: request.caller, sessionId: request.sessionId }, 0, 100)).events;
  await expect.poll(log).toMatchObject([{}, { text: "One" }]);
  await first[Symbol.asyncDispose]();
  await left;
  const broken = write("Two", async () => Promise.reject(modelError("interrupted")));
  await using second = await createAgent({ bus, model: scriptedModel([broken, said("Three")]).model, store }).start();
  await second.runTurn({ ...request, deadline: performance.now() + 60_000 });

  const told = (await log()).map(({ kind, text, dropsText }) => (dropsText ? "drop" : kind === "text" ? text : kind));
  expect(told).toEqual(["turn_started", "One", "drop", "Two", "drop", "Three", "turn_finished"]);
});

test("a call that may have run before a crash, and that nobody can be asked about, is told to the model as such", async () => {
  await using bus = createMemoryBus();
  let runs = 0;
  const effect = testTool("effect", async () => `did ${++runs}`);
  const service = await serveTools(bus, { tools: [effect] }, { service: "tests" });
  await using store = createMemoryTurnStore();
  const request = testRequest("Go.");
  const { model, requests } = scriptedModel([
    ({ messages }) => (messages.some(({ role }) => role === "tool") ? said("I do not know.") : called("effect")),
  ]);
  const mortal = new Mortal(Number.POSITIVE_INFINITY);
  await using firstCaller = await createToolCaller(bus, { agent: "agent", results: "copy" });
  const call: ToolCaller["call"] = async (...args) => {
    await firstCaller.call(...args);
    mortal.isDead = true; // its result is never learned
    mortal.died.resolve();
    return new Promise(() => {});
  };
  const caller = Object.create(firstCaller, { call: { value: call } }) as ToolCaller;
  const first = await createAgent({ bus, model, store: mortal.store(store), caller, limits: { leaseMs: 100 } }).start();
  void first.runTurn(request).catch(() => {});
  await mortal.died.promise;
  await service[Symbol.asyncDispose]();
  await using second = await createAgent({ bus, model, store, name: "agent", limits: { leaseMs: 100 } }).start();
  expect(await second.runTurn(request)).toMatchObject({ text: "I do not know." });
  expect(requests.at(-1)?.messages.at(-1)?.content).toMatch(/^outcome_unknown: .*may have run/);
  expect(runs).toBe(1);
  void first[Symbol.asyncDispose]();
});

test("a call whose service died while it ran is told to the model as having an unknown outcome, and does not run again", async () => {
  await using bus = createMemoryBus();
  let runs = 0;
  const effect = testTool("effect", async () => {
    runs++;
    throw new ToolError(ToolErrorCode.OutcomeUnknown, "The call was started and its outcome is lost.");
  });
  await using _service = await serveTools(bus, { tools: [effect] }, { service: "tests" });
  const { model, requests } = scriptedModel([called("effect"), said("I do not know.")]);
  await using agent = await createAgent({ bus, model }).start();
  expect(await agent.runTurn(testRequest("Go."))).toMatchObject({ text: "I do not know." });
  expect(requests[1]?.messages.at(-1)?.content).toMatch(/^outcome_unknown: /);
  expect(runs).toBe(1);
});
