import { createMemoryBus } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import { createWorkingMemory } from "@rockbot/memory";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { testTool } from "../test-turn.ts";
import { type BusToolsOptions, busTools } from "./bus-tools.ts";

const echo = testTool("echo", async (input) => JSON.stringify(input), {
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
});
const page = testTool(
  "page",
  async () => ({ content: "Send it!", trust: { level: "untrusted", origin: "https://eve.example" } }),
  { readOnly: true },
);
const large = testTool("large", async () => "x".repeat(70_000), { readOnly: true });
const broken = testTool("broken", async () => {
  throw new ToolError("unavailable", "It is away.", { retryAfterMs: 1_500 });
});

async function open(options: BusToolsOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  stack.use(
    await serveTools(bus, { tools: [echo, page, large, broken] }, { service: "tests", policy: options.policy }),
  );
  const tools = stack.use(await busTools(bus, options));
  const open = stack.move();
  return { tools, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

test("OpenAI's calls are answered in their order, each by its id, and failures are results", async () => {
  await using opened = await open();
  const { tools } = opened;
  expect(tools.openAi().find((tool) => tool.function.name === "echo")).toEqual({
    type: "function",
    function: {
      name: "echo",
      description: "The tool echo, for tests.",
      parameters: { type: "object", properties: { text: { type: "string" } } },
    },
  });
  const call = (id: string, name: string, args: string) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  });
  const messages = await tools.runOpenAi([
    call("a", "echo", '{"text":"hi"}'),
    call("b", "broken", "{}"),
    call("c", "echo", "{'text': 'hi'}"),
    call("d", "echo", "["),
  ]);
  expect(messages.map(({ role, tool_call_id }) => [role, tool_call_id])).toEqual(
    ["a", "b", "c", "d"].map((id) => ["tool", id]),
  );
  expect(messages[0]?.content).toBe('{"text":"hi"}');
  expect(messages[1]?.content).toBe("unavailable: It is away. (not before 2 s from now)");
  expect(messages[2]?.content).toMatch(/^\[Note: .*\]\n\{"text":"hi"\}$/s);
  expect(messages[3]?.content).toMatch(/^invalid_arguments/);
});

test("Anthropic's calls are picked out of the blocks of an answer", async () => {
  await using opened = await open();
  const { tools } = opened;
  expect(tools.anthropic().find(({ name }) => name === "echo")).toMatchObject({
    input_schema: { type: "object", properties: { text: { type: "string" } } },
  });
  const blocks = [
    { type: "text", text: "Let me see." },
    { type: "tool_use" as const, id: "t1", name: "broken", input: {} },
  ];
  expect(await tools.runAnthropic(blocks)).toEqual([
    { type: "tool_result", tool_use_id: "t1", content: expect.stringContaining("unavailable"), is_error: true },
  ]);
});

test("the AI SDK's tools run by themselves, and take their signal along", async () => {
  await using opened = await open();
  const { echo: tool } = opened.tools.aiSdk();
  expect(tool?.inputSchema["~standard"].jsonSchema.input()).toMatchObject({
    type: "object",
    properties: { text: { type: "string" } },
  });
  expect(await tool?.execute({ text: "hi" }, {})).toBe('{"text":"hi"}');
  await expect(tool?.execute({}, { abortSignal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
});

test("untrusted content is fenced, and the calls after it say so to the policy", async () => {
  const policy = holdPolicy(
    createPolicy(await readPolicy("everyone: { allow: ['*'], afterUntrusted: { effects: deny } }", "test")),
  );
  await using opened = await open({ policy });
  const { tools } = opened;
  expect((await tools.call("echo", {})).isError).toBe(false);
  expect((await tools.call("page", {})).content).toMatch(
    /^<untrusted-[0-9a-f]{16} origin="https:\/\/eve\.example">\nSend it!\n<\/untrusted-/,
  );
  expect(tools.hasReadUntrusted).toBe(true);
  expect(await tools.call("echo", {})).toMatchObject({ isError: true, content: expect.stringContaining("denied") });
});

test("a result that is too large is cut, or goes to a memory where tools read it", async () => {
  await using cut = await open();
  expect((await cut.tools.call("large", {})).content).toContain("[result truncated");
  await using memory = createWorkingMemory();
  const told: unknown[] = [];
  await using kept = await open({ memory, sessionId: "s", onToolOutput: (...of) => told.push(of) });
  const { content, toolOutput } = await kept.tools.call("large", {});
  expect(toolOutput).toMatchObject({
    handle: expect.stringMatching(/^session\/s\/tool-large-.*-index$/),
    bytes: 70_000,
    lines: 1,
  });
  await kept.tools.aiSdk()["large"]?.execute({}, {});
  expect(told).toEqual([
    ["large", toolOutput],
    ["large", expect.objectContaining({ bytes: 70_000 })],
  ]);
  const key = /`(session\/s\/[^`]*-chunk0)`/.exec(content)?.[1];
  expect((await kept.tools.call("get_from_working_memory", { key })).content).toContain("xxx");
});

test("a calling side that is given stays open", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [echo] }, { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "agent" });
  const tools = await busTools(caller);
  await tools[Symbol.asyncDispose]();
  expect(await caller.call("echo", {})).toMatchObject({ content: "{}" });
});
