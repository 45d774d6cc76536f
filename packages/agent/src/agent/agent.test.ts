import { type Bus, BusUnavailableError, createMemoryBus, type Logger, silentLogger } from "@rockbot/bus";
import { type AgentEvent, ToolError } from "@rockbot/contracts";
import type { Model, ModelRequest } from "@rockbot/llm";
import { createWorkingMemory } from "@rockbot/memory";
import { serveTools, type Tool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { workingMemory } from "../plugins/working-memory.ts";
import { called, modelError, said, scriptedModel, type TestStep } from "../test-model.ts";
import { testRequest, testTool } from "../test-turn.ts";
import type { TurnRequest, TurnResult } from "../words/turn.ts";
import { type AgentOptions, createAgent } from "./create-agent.ts";

/** Runs one turn of a new agent, over a bus of its own. */
async function runTurn(
  model: Model,
  tools: readonly Tool[],
  request: TurnRequest = testRequest("Go."),
  options: Partial<AgentOptions> = {},
): Promise<TurnResult & { readonly events: readonly AgentEvent[] }> {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [...tools] }, { service: "tests" });
  await using agent = await createAgent({ bus, model, ...options }).start();
  const events: AgentEvent[] = [];
  const result = await agent.runTurn({ ...request, onEvent: (event) => events.push(event) });
  return { ...result, events };
}

const lastOf = ({ messages }: ModelRequest) => messages.at(-1);
const clock = testTool("time_now", async () => "12:00", { readOnly: true });

test("a turn calls the tools that are on the bus, and answers; asked again, it gives the same result", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [clock] }, { service: "clock" });
  const { model, requests } = scriptedModel([
    called("time_now"),
    (request) => said(`It is ${lastOf(request)?.content}.`),
  ]);
  await using agent = await createAgent({ bus, model }).start();
  const events: AgentEvent[] = [];
  const request = testRequest("What time is it?");
  const result = await agent.runTurn({ ...request, onEvent: (event) => events.push(event) });

  expect(result).toMatchObject({ text: "It is 12:00.", finish: "stop", usage: { inputTokens: 20, outputTokens: 10 } });
  expect(requests[0]?.tools?.map(({ name }) => name)).toEqual([
    "delete_from_working_memory",
    "get_from_working_memory",
    "get_tool_guide",
    "list_tool_guides",
    "list_working_memory",
    "save_to_working_memory",
    "search_working_memory",
    "time_now",
  ]);
  expect(events.map(({ kind }) => kind)).toEqual([
    "turn_started",
    "tool_started",
    "tool_finished",
    "text",
    "turn_finished",
  ]);
  expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
  expect(events[2]).toMatchObject({
    toolName: "time_now",
    namespace: "clock",
    status: "ok",
    charactersIn: 2,
    charactersOut: 5,
    durationMs: expect.any(Number),
  });
  expect(events[4]).not.toHaveProperty("toolBudgetExceeded");
  expect(await agent.runTurn(request)).toEqual(result);
  expect(requests).toHaveLength(2);
  const { sessionId } = request;
  expect((await agent.history("agent", sessionId)).map(({ content }) => content)).toEqual([
    "What time is it?",
    "It is 12:00.",
  ]);
  expect((await agent.events("agent", sessionId, 3, 500)).events.map(({ kind }) => kind)).toEqual([
    "text",
    "turn_finished",
  ]);

  await agent.runTurn(testRequest("And now?", { sessionId }));
  expect(requests[2]?.messages.slice(1).map(({ content }) => content)).toEqual([
    "What time is it?",
    "It is 12:00.",
    "And now?",
  ]);
});

test("calls of one answer run side by side, and their results stand in order behind it", async () => {
  const bothRun = Promise.withResolvers<void>();
  let running = 0;
  const meet = testTool("meet", async ({ name }) => {
    if (++running === 2) bothRun.resolve();
    await bothRun.promise;
    return `met ${name}`;
  });
  const { model, requests } = scriptedModel([called(["meet", { name: "a" }], ["meet", { name: "b" }]), said("done")]);
  await runTurn(model, [meet]);
  expect(requests[1]?.messages.slice(-2).map(({ content }) => content)).toEqual(["met a", "met b"]);
});

test("no more calls of a turn run at once than its bound", async () => {
  let [running, most] = [0, 0];
  const full = Promise.withResolvers<void>();
  const busy = testTool("busy", async () => {
    most = Math.max(most, ++running);
    if (running === 3) full.resolve();
    await full.promise;
    await new Promise(setImmediate); // a fourth would begin now
    running--;
    return "done";
  });
  const { model, requests } = scriptedModel([
    called(...Array.from({ length: 10 }, (_, i) => ["busy", { i }] as const)),
    said("done"),
  ]);
  await runTurn(model, [busy], undefined, { limits: { maxParallelCalls: 3 } });
  expect(most).toBe(3);
  expect(requests[1]?.messages.filter(({ role, content }) => role === "tool" && content === "done")).toHaveLength(10);
});

test("arguments that can be meant in one way are repaired, and the model learns it; others are answered with their fault", async () => {
  const given: unknown[] = [];
  const note = testTool("take_note", async (input) => {
    given.push(input);
    return "noted";
  });
  const { model, requests } = scriptedModel([
    called(["take_note", "{'text': 'tea',}"], ["take_note", '{"text": "te']),
    said("done"),
  ]);
  await runTurn(model, [note]);
  expect(given).toEqual([{ text: "tea" }]);
  const [repaired, refused] = requests[1]?.messages.slice(-2) ?? [];
  expect(repaired?.content).toContain('read as {"text": "tea"}');
  expect(repaired?.content).toContain("noted");
  expect(refused).toMatchObject({ isError: true, content: expect.stringContaining("invalid_arguments") });
});

test("an unknown tool is answered with the nearest names, and a name that can only mean one tool is taken for it", async () => {
  const { model, requests } = scriptedModel([called("time_nov", "functions.time_now", "TimeNow"), said("done")]);
  await runTurn(model, [clock]);
  const [unknown, prefixed, cased] = requests[1]?.messages.slice(-3).map(({ content }) => content) ?? [];
  expect(unknown).toMatch(/tool_not_found.*time_now/);
  expect(prefixed).toMatch(/"time_now" was called[\s\S]*12:00/);
  expect(cased).toMatch(/"time_now" was called[\s\S]*12:00/);
});

test("a call that is written as text runs as any other", async () => {
  const { model, requests } = scriptedModel([
    said('I look.\n<tool_call>{"name": "time_now", "arguments": {}}</tool_call>'),
    said("done"),
  ]);
  expect((await runTurn(model, [clock])).text).toBe("done");
  expect(requests[1]?.messages.slice(-2)).toMatchObject([
    { role: "assistant", content: "I look.", toolCalls: [{ id: "call_0_0", name: "time_now" }] },
    { role: "tool", toolCallId: "call_0_0", content: "12:00" },
  ]);
});

test("a model that takes no tools by its protocol has them in its system text, and calls them by lines", async () => {
  const { model, requests } = scriptedModel([said("tool_call_name: time_now\ntool_call_arguments: {}"), said("done")], {
    usesTextToolCalls: true,
  });
  expect((await runTurn(model, [clock])).text).toBe("done");
  expect(requests[0]?.tools).toBeUndefined();
  expect(requests[0]?.messages[0]?.content).toContain("- time_now: The tool time_now");
  expect(requests[1]?.messages.slice(-2)).toEqual([
    { role: "assistant", content: "tool_call_name: time_now\ntool_call_arguments: {}" },
    { role: "user", content: "Result of time_now:\n12:00" },
  ]);
});

test("three identical failing calls in a row end in an answer without tools", async () => {
  const broken = testTool("broken", async () => {
    throw new ToolError("execution_failed", "It is broken.");
  });
  const { model, requests } = scriptedModel([
    called("broken"),
    called("broken"),
    called("broken"),
    said("It does not work."),
  ]);
  expect(await runTurn(model, [broken])).toMatchObject({
    text: "It does not work.",
    finish: "limit",
    reason: expect.stringContaining("3 times"),
  });
  expect(requests).toHaveLength(4);
  expect(requests[3]).toMatchObject({ toolChoice: "none" });
  expect(lastOf(requests[3] as ModelRequest)?.content).toContain("cannot call tools any more");
});

test("the same failing call many times in one answer is no streak, nor are the calls that one answer has too many", async () => {
  let runs = 0;
  const counted = testTool("counted", async () => `${++runs}`);
  const { model, requests } = scriptedModel([
    called(["nothing", { a: 1 }], ["nothing", { a: 2 }], ["nothing", { a: 3 }]),
    called(...Array.from({ length: 100 }, () => "counted")),
    said("done"),
  ]);
  expect(await runTurn(model, [counted])).toMatchObject({ text: "done", finish: "stop" });
  expect(requests).toHaveLength(3);
  expect(runs).toBe(32);
});

test("an agent that may not publish its events says so once, and tries no more of them", async () => {
  await using memory = createMemoryBus();
  let refused = 0;
  const warnings: unknown[] = [];
  const publish: Bus["publish"] = async (message, options) => {
    if (!message.topic.startsWith("agent.event.")) return memory.publish(message, options);
    refused++;
    throw new BusUnavailableError("Cannot publish: the broker refuses the message", { isForbidden: true });
  };
  const bus = new Proxy<Bus>(memory, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === "publish") return publish;
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const log: Logger = { ...silentLogger, warn: (_fields: object, message?: string) => warnings.push(message) };
  const { model } = scriptedModel([said("done")]);
  await using agent = await createAgent({ bus, model, log }).start();
  const request = testRequest("Go.");
  await agent.runTurn(request);
  const afterFirst = refused;
  await agent.runTurn(testRequest("Again.", { sessionId: request.sessionId }));
  expect(afterFirst).toBeGreaterThan(0);
  expect(refused).toBe(afterFirst);
  expect(warnings).toEqual([expect.stringContaining("may not publish events")]);
  expect((await agent.events("agent", request.sessionId, 0, 500)).events.map(({ kind }) => kind)).toContain(
    "turn_finished",
  );
});

test("a model that calls for ever is stopped at its iterations, and answers; one that answers nothing then has our words", async () => {
  const endless = scriptedModel([(request) => (request.toolChoice === "none" ? said("Enough.") : called("time_now"))], {
    maxIterations: 4,
  });
  expect(await runTurn(endless.model, [clock])).toMatchObject({ text: "Enough.", finish: "limit" });
  expect(endless.requests).toHaveLength(5);

  const stubborn = scriptedModel([called("time_now")], { maxIterations: 2 });
  expect(await runTurn(stubborn.model, [clock])).toMatchObject({
    text: expect.stringContaining("I have to stop here"),
    finish: "limit",
  });
});

test("a turn stops at its tokens", async () => {
  const { model } = scriptedModel([
    (request) => (request.toolChoice === "none" ? said("Enough.") : called("time_now")),
  ]);
  expect(await runTurn(model, [clock], undefined, { limits: { maxTokens: 30 } })).toMatchObject({
    text: "Enough.",
    finish: "limit",
    reason: expect.stringContaining("30 tokens"),
  });
});

test("a turn stops at its time: the call that runs ends, and there is time left for an answer", async () => {
  const ended = Promise.withResolvers<string>();
  const endless = testTool("endless", async (_input, { signal }) => {
    signal.addEventListener("abort", () => ended.resolve("ended"));
    return new Promise<never>(() => {});
  });
  const { model, requests } = scriptedModel([called("endless"), said("This is what I know.")]);
  const deadline = performance.now() + 4_000; // a fifth of it is left for the answer
  expect(await runTurn(model, [endless], testRequest("Go.", { deadline }))).toMatchObject({
    text: "This is what I know.",
    finish: "limit",
    reason: "the time of this turn is used up",
  });
  expect(await ended.promise).toBe("ended");
  expect(requests[1]).toMatchObject({ toolChoice: "none" });
  expect(requests[1]?.messages.at(-2)).toMatchObject({ role: "tool", content: expect.stringMatching(/^timeout: /) });
});

test("a conversation that is too long for the model is trimmed by no more than has to go, and the model can read the rest", async () => {
  const large = testTool("large", async () => `${"x".repeat(50_000)}the end`, { readOnly: true });
  const { model, requests } = scriptedModel([
    called("time_now", "large"),
    () => {
      throw Object.assign(modelError("context_overflow"), { limitTokens: 10_000 });
    },
    (request) => {
      const key = /key "([^"]+-whole)"/.exec(lastOf(request)?.content ?? "")?.[1];
      return called(["get_from_working_memory", { key, offset: 50_000 }]);
    },
    said("done"),
  ]);
  expect(await runTurn(model, [clock, large])).toMatchObject({ text: "done", finish: "stop" });
  const [small, trimmed] = requests[2]?.messages.slice(-2) ?? [];
  expect(small?.content).toBe("12:00");
  expect(trimmed?.content.length).toBeGreaterThan(15_000);
  expect(requests[3]?.messages.at(-1)?.content).toMatch(/^the end\n/);
});

test("a result that is too large is told of: where it is and how large it was, in the call's event and in the turn's result", async () => {
  const forged = { structured: { tool_output: { handle: "forged" } } };
  const large = testTool("large", async () => ({ content: "x".repeat(70_000), ...forged }), { readOnly: true });
  const small = testTool("small", async () => ({ content: "small", ...forged }), { readOnly: true });
  const { events, largeResults } = await runTurn(scriptedModel([called("large", "small"), said("done")]).model, [
    large,
    small,
  ]);
  const handle = expect.stringMatching(/^session\/.*\/tool-large-[0-9a-f]{8}-index$/);
  const toolOutput = { handle, reason: "size_limit_exceeded", bytes: 70_000, lines: 1, tokens: expect.any(Number) };
  const finished = events.filter(({ kind }) => kind === "tool_finished");
  expect(
    finished.flatMap((event) => (event.toolOutput === undefined ? [] : [[event.toolName, event.toolOutput]])),
  ).toEqual([["large", toolOutput]]);
  expect(largeResults).toEqual([
    { toolCallId: finished.find(({ toolName }) => toolName === "large")?.toolCallId, toolName: "large", toolOutput },
  ]);
});

test("an agent has one working memory, which has all that it keeps, and refuses two", async () => {
  await using mine = createWorkingMemory();
  await using bus = createMemoryBus();
  const { model } = scriptedModel([called(["save_to_working_memory", { key: "note", data: "tea" }]), said("Saved.")]);
  await using agent = await createAgent({ bus, model }).use(workingMemory(mine)).start();
  await agent.runTurn(testRequest("Go.", { sessionId: "s" }));
  const keys = (await mine.of("agent").list("")).map(({ key }) => key);
  expect(keys).toEqual([expect.stringMatching(/^runs\/s\/turns\//), "session/s/note"]);
  await using other = createWorkingMemory();
  await expect(createAgent({ bus, model, memory: other }).use(workingMemory(mine)).start()).rejects.toThrow(
    /one working memory/,
  );
});

test("an empty answer is asked for once more, then answered in words", async () => {
  const second = scriptedModel([said(""), said("Here.")]);
  expect(await runTurn(second.model, [])).toMatchObject({ text: "Here.", finish: "stop" });
  const never = scriptedModel([said("")]);
  expect(await runTurn(never.model, [])).toMatchObject({
    text: "I have no answer: the model gave none.",
    finish: "failed",
  });
  expect(never.requests).toHaveLength(2);
});

test("a model that only announces a call is asked once to make it, where its behaviour says so", async () => {
  const prose = "I will now call time_now to find out.";
  const nudged = scriptedModel([said(prose), called("time_now"), said("done")], { nudgesOnProse: true });
  expect((await runTurn(nudged.model, [clock])).text).toBe("done");
  const left = scriptedModel([said(prose)]);
  expect((await runTurn(left.model, [clock])).text).toBe(prose);
});

test("text that other words replace has an event before those that drops it: of a model that breaks off for good, or speaks of a call", async () => {
  const textsOf = async (script: readonly TestStep[]) => {
    const { text, events } = await runTurn(scriptedModel(script, { nudgesOnProse: true }).model, [clock]);
    const told = events.flatMap((event) => (event.dropsText ? ["drop"] : event.kind === "text" ? [event.text] : []));
    expect(told.at(-1)).toBe(text);
    return told;
  };
  const prose = "I will now call time_now";
  const breaksOff = ({ onText }: ModelRequest): never => {
    onText?.("Ha");
    throw modelError("interrupted");
  };
  expect(await textsOf([breaksOff, breaksOff])).toEqual(["Ha", "drop", "Ha", "drop", expect.stringContaining("model")]);
  expect(await textsOf([said(prose), said("Noon.")])).toEqual([prose, "drop", "Noon."]);
  expect(await textsOf([said(prose), said("")])).toEqual([prose, "drop", prose]);
});

test.each([
  ["unavailable", "failed"],
  ["unauthorized", "failed"],
  ["rate_limited", "failed"],
  ["refused", "refused"],
])("a model that ends in %s ends the turn in words", async (code, finish) => {
  const { model } = scriptedModel([
    () => {
      throw modelError(code);
    },
  ]);
  const { text, events, ...result } = await runTurn(model, []);
  expect(result).toMatchObject({ finish, code, reason: expect.stringContaining(code) });
  expect(text).not.toBe("");
  expect(events.at(-1)).toMatchObject({ kind: "turn_finished", finish });
});

test("a client's own tools are offered, and calls of them are returned, not run", async () => {
  const { model, requests } = scriptedModel([called(["paint", { colour: "red" }])]);
  const clientTools = [{ name: "paint", description: "Paint.", parameters: { type: "object" } }];
  const result = await runTurn(model, [clock], testRequest("Paint it.", { clientTools }));
  expect(requests[0]?.tools?.[0]).toEqual(clientTools[0]);
  expect(result).toMatchObject({
    finish: "tool_calls",
    toolCalls: [{ id: "call_0", name: "paint", arguments: '{"colour":"red"}' }],
  });
});

test("a history that a client brings is taken whole, with its calls and results", async () => {
  const { model, requests } = scriptedModel([said("done")]);
  const { message: _, ...request } = testRequest("");
  await runTurn(model, [], {
    ...request,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Paint." },
      { role: "assistant", content: null, tool_calls: [{ id: "c1", name: "paint", arguments: "{}" }] },
      { role: "tool", content: "painted", tool_call_id: "c1" },
    ],
  });
  expect(requests[0]?.messages.slice(1)).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Paint." },
    { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "paint", arguments: "{}" }] },
    { role: "tool", toolCallId: "c1", toolName: "paint", content: "painted" },
  ]);
});

test("a cancelled turn cancels its calls, and ends in one result", async () => {
  const stop = new AbortController();
  const cancelled = Promise.withResolvers<void>();
  const slow = testTool("slow", async (_input, { signal }) => {
    signal.addEventListener("abort", () => cancelled.resolve());
    stop.abort(new ToolError("cancelled", "enough"));
    await cancelled.promise;
    return "late";
  });
  const { model } = scriptedModel([called("slow")]);
  expect(await runTurn(model, [slow], testRequest("Go.", { signal: stop.signal }))).toMatchObject({
    finish: "failed",
    reason: "The turn was cancelled.",
  });
  await cancelled.promise;
});

test("a question that was cancelled is not asked again with the next one", async () => {
  await using bus = createMemoryBus();
  const stop = new AbortController();
  const { model, requests } = scriptedModel([
    async () => {
      stop.abort(new ToolError("cancelled", "enough"));
      return said("late");
    },
    said("two"),
  ]);
  await using agent = await createAgent({ bus, model }).start();
  const { sessionId } = testRequest("");
  await agent.runTurn(testRequest("one?", { sessionId, signal: stop.signal }));
  await agent.runTurn(testRequest("two?", { sessionId }));

  expect(requests[1]?.messages.slice(1)).toEqual([
    { role: "user", content: "one?" },
    { role: "assistant", content: expect.stringContaining("cancelled") },
    { role: "user", content: "two?" },
  ]);
});

test("messages that come during a turn wait in order, and one too many is refused", async () => {
  await using bus = createMemoryBus();
  const first = Promise.withResolvers<void>();
  const { model, requests } = scriptedModel([
    async () => {
      await first.promise;
      return said("1");
    },
    said("n"),
  ]);
  await using agent = await createAgent({ bus, model, limits: { maxWaiting: 2 } }).start();
  const { sessionId } = testRequest("");
  const running = agent.runTurn(testRequest("one", { sessionId }));
  await expect.poll(() => requests.length).toBe(1);
  const second = agent.runTurn(testRequest("two", { sessionId }));
  const third = agent.runTurn(testRequest("three", { sessionId }));
  await expect(agent.runTurn(testRequest("four", { sessionId }))).rejects.toMatchObject({
    code: "overloaded",
    details: { reason: "session_queue" },
  });
  first.resolve();
  await Promise.all([running, second, third]);
  const { events } = await agent.events("agent", sessionId, 0, 500);
  const frames = events.filter(({ kind }) => kind !== "text").map(({ kind }) => kind);
  expect(frames).toEqual([
    "turn_started",
    "turn_finished",
    "turn_started",
    "turn_finished",
    "turn_started",
    "turn_finished",
  ]);
  expect(
    (await agent.history("agent", sessionId)).filter(({ role }) => role === "user").map(({ content }) => content),
  ).toEqual(["one", "two", "three"]);
});

test("a turn whose results were too much for its model together says so at its end", async () => {
  const large = testTool("large", async () => "x".repeat(50_000), { readOnly: true });
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [large] }, { service: "tests" });
  const { model } = scriptedModel([called("large"), called("large"), called("large"), said("Much.")], {
    contextTokens: 30_000,
  });
  await using agent = await createAgent({ bus, model }).start();
  const events: AgentEvent[] = [];
  const result = await agent.runTurn({ ...testRequest("Read."), onEvent: (event) => events.push(event) });
  expect(result).toMatchObject({ text: "Much.", toolBudgetExceeded: true });
  expect(events.at(-1)).toMatchObject({ kind: "turn_finished", toolBudgetExceeded: true });
});
