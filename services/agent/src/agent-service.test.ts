import { text } from "node:stream/consumers";
import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { startModelServer, startPageServer } from "@rockbot/testing";
import { createToolCaller, defineTool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startAgentService } from "./agent-service.ts";
import { configSchema } from "./generated/config.ts";
import { startTestAgent } from "./test-agent-service.ts";

const WAIT = { timeout: 20_000, interval: 10 };
const message = {
  content: "What is 6 times 7?",
  sessionId: "blazor-session",
  userId: "blazor-user",
  targetAgent: null,
};
/** Says what it was asked last. */
const echo = (request: { readonly messages: readonly { readonly role: string; readonly text: string }[] }) => ({
  text: `You said: ${request.messages.findLast(({ role }) => role === "user")?.text}`,
});
const slowTool = (until?: Promise<void>) => {
  const runs: object[] = [];
  const definition = {
    name: "multiply",
    description: "Multiply.",
    inputSchema: { type: "object" },
    readOnly: false,
    idempotent: false,
    validateInput: () => true,
  };
  const tool = defineTool(definition as never, async (input: object) => {
    runs.push(input);
    await until;
    return "42";
  });
  return { runs, tool };
};

test("a user's message is answered on its reply topic: steps first, then one final reply, all with its correlation", async () => {
  const { tool, runs } = slowTool();
  const script = [
    { text: "Let me see.", toolCalls: [{ name: "multiply", arguments: { a: 6, b: 7 } }] },
    { text: "It is 42." },
  ];
  await using agent = await startTestAgent(script, { tools: [tool] });

  await agent.send("user.message", "UserMessage", message, {
    correlationId: "c-1",
    replyTo: "user.response.user-proxy",
  });
  await expect.poll(() => agent.finals(), WAIT).toHaveLength(1);

  const replies = agent.heard("AgentReply");
  const last = replies.at(-1);
  expect(last?.body).toEqual({
    content: "It is 42.",
    sessionId: "blazor-session",
    agentName: "RockBot",
    isFinal: true,
    structuredData: null,
    contentType: null,
  });
  expect(replies.map(({ topic, correlationId }) => [topic, correlationId])).toEqual(
    replies.map(() => ["user.response.user-proxy", "c-1"]),
  );
  expect(replies.filter(({ body }) => body.isFinal === false).map(({ body }) => body.content)).toContain(
    "calling multiply",
  );
  expect(runs).toEqual([{ a: 6, b: 7 }]);
});

test("a program of the original is the caller by its own name, capitals and all", async () => {
  const callers: string[] = [];
  const { tool } = slowTool();
  const whose = defineTool(tool.definition, async (_input, { caller }) => {
    callers.push(caller);
    return "done";
  });
  await using agent = await startTestAgent([{ toolCalls: [{ name: "multiply" }] }, { text: "Done." }], {
    tools: [whose],
  });

  await agent.send("user.message", "UserMessage", message, { source: "Blazor_UI" });
  await expect.poll(() => agent.finals().map(({ body }) => body.content), WAIT).toEqual(["Done."]);

  expect(callers).toEqual(["Blazor_UI"]);
});

test("a message that comes again is answered again, with the same words, and runs nothing twice", async () => {
  const { tool, runs } = slowTool();
  await using agent = await startTestAgent([{ toolCalls: [{ name: "multiply" }] }, { text: "Done." }], {
    tools: [tool],
  });

  for (const count of [1, 2]) {
    await agent.send("user.message", "UserMessage", message, { messageId: "m".repeat(32) });
    await expect.poll(() => agent.finals(), WAIT).toHaveLength(count);
  }

  expect(agent.finals().map(({ topic, body }) => [topic, body.content])).toEqual([
    ["user.response", "Done."],
    ["user.response", "Done."],
  ]);
  expect([runs.length, agent.model.requests.length]).toEqual([1, 2]);
});

test("a message that comes again while its turn runs waits for the turn's answer, as after a lost connection", async () => {
  const { promise: until, resolve: finish } = Promise.withResolvers<void>();
  const { tool, runs } = slowTool(until);
  await using agent = await startTestAgent([{ toolCalls: [{ name: "multiply" }] }, { text: "Done." }], {
    tools: [tool],
  });

  await agent.send("user.message", "UserMessage", message, { messageId: "m".repeat(32) });
  await expect.poll(() => runs.length, WAIT).toBe(1);
  await agent.send("user.message", "UserMessage", message, { messageId: "m".repeat(32) });
  // Messages are taken in their order: once this one is answered, the one before it is being handled.
  await agent.send(
    "user.history.request",
    "ConversationHistoryRequest",
    { sessionId: "other" },
    { replyTo: "user.history.response.user-proxy" },
  );
  await expect.poll(() => agent.heard("ConversationHistoryResponse"), WAIT).toHaveLength(1);
  finish();
  await expect.poll(() => agent.finals().map(({ body }) => body.content), WAIT).toEqual(["Done.", "Done."]);

  expect([runs.length, agent.model.requests.length]).toEqual([1, 2]);
});

test("a message that cannot be served is answered in words", async () => {
  await using agent = await startTestAgent([{ status: 401 }]);

  await agent.send("user.message", "UserMessage", { sessionId: "a", userId: "u" } as never);
  await expect.poll(() => agent.finals(), WAIT).toHaveLength(1);
  await agent.send("user.message", "UserMessage", { ...message, content: "  " });
  await expect.poll(() => agent.finals(), WAIT).toHaveLength(2);
  await agent.send("user.message", "UserMessage", message);
  await expect.poll(() => agent.finals(), WAIT).toHaveLength(3);

  const [unreadable, empty, noModel] = agent.finals().map(({ body }) => body);
  expect(unreadable).toMatchObject({
    sessionId: "a",
    content: expect.stringMatching(/^I could not take your message: UserMessage: .*content/),
  });
  expect(empty?.content).toBe("I could not take your message: it is empty");
  expect(noModel?.content).toMatch(/\w/);
});

test("a session continues by its id, and the same id of another caller is another session", async () => {
  await using agent = await startTestAgent(echo);
  const ask = (text: string, onBehalfOf: string) =>
    agent.caller.call("agent__chat", { message: text, session_id: "s" }, { onBehalfOf });

  await ask("one", "alice");
  await ask("two", "alice");
  const { content } = await ask("three", "bob");

  expect(content).toBe("You said: three");
  const told = agent.model.requests.map(({ messages }) =>
    messages.filter(({ role }) => role === "user").map(({ text }) => text),
  );
  expect(told[1]).toEqual(["one", "two"]);
  expect(told[2]).toEqual(["three"]);
});

test("agent__chat says where the results are that were too large for the model", async () => {
  const large = defineTool(slowTool().tool.definition, async () => "x".repeat(70_000));
  await using agent = await startTestAgent([{ toolCalls: [{ name: "multiply" }] }, { text: "Done." }], {
    tools: [large],
  });
  const { structured } = await agent.caller.call("agent__chat", { message: "Go.", session_id: "s" });
  const tool_output = { handle: expect.stringMatching(/^session\/s\/tool-multiply-/), bytes: 70_000 };
  expect(structured).toMatchObject({ tool_outputs: [{ tool: "multiply", tool_output }] });
});

test("the model reads the value of a script's last line behind what the script printed", async () => {
  const definition = { ...slowTool().tool.definition, name: "execute_python_script" };
  const structured = { value: { type: "int", text: "42", is_cut: false } };
  const script = defineTool(definition, async () => ({ content: "printed", structured }));
  const calls = [{ name: "execute_python_script", arguments: { script: "6 * 7" } }];
  await using agent = await startTestAgent([{ toolCalls: calls }, { text: "Done." }], { tools: [script] });
  await agent.caller.call("agent__chat", { message: "Go.", session_id: "s" });
  const read = agent.model.requests.at(-1)?.messages.findLast(({ role }) => role === "tool")?.text;
  expect(read).toContain("printed\n[Value of the last line, int: 42]");
});

test("agent__chat says how the turn ended and what it used, and refuses what it cannot take in words", async () => {
  await using agent = await startTestAgent(echo);

  const { structured } = await agent.caller.call("agent__chat", { message: "hello" }, { toolCallId: "t".repeat(32) });
  expect(structured).toMatchObject({
    turn_id: "t".repeat(32),
    session_id: "t".repeat(32),
    text: "You said: hello",
    finish: "stop",
    usage: { output_tokens: expect.any(Number) },
  });

  const messages = [{ role: "user", content: "hi" }];
  await expect(agent.caller.call("agent__chat", { message: "a", messages })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: /both/,
  });
  await expect(agent.caller.call("agent__chat", {})).rejects.toMatchObject({
    code: "invalid_arguments",
    message: /no message/,
  });
  await expect(agent.caller.call("agent__chat", { message: "a", model: "other" })).rejects.toMatchObject({
    message: /no model "other"\. It has test-model/,
  });
});

test("a whole conversation and the caller's own tools are taken, and calls of those are returned", async () => {
  await using agent = await startTestAgent([
    { toolCalls: [{ id: "call_1", name: "open_door", arguments: { door: 3 } }] },
  ]);
  const tools = [
    {
      name: "open_door",
      description: "Open a door.",
      parameters: { type: "object", properties: { door: { type: "integer" } } },
    },
  ];

  const { structured } = await agent.caller.call("agent__chat", {
    messages: [{ role: "user", content: "Open door 3" }],
    tools,
  });

  expect(structured).toMatchObject({
    finish: "tool_calls",
    tool_calls: [{ name: "open_door", arguments: '{"door":3}' }],
  });
});

test("the steps of a turn are published for the caller's session, and read again with agent__events", async () => {
  await using agent = await startTestAgent(echo);

  await agent.caller.call("agent__chat", { message: "hello", session_id: "a" }, { onBehalfOf: "alice" });
  await expect.poll(() => agent.heard("AgentEvent").at(-1)?.body.kind, WAIT).toBe("turn_finished");

  const published = agent.heard("AgentEvent");
  expect(new Set(published.map(({ topic }) => topic))).toEqual(new Set(["agent.event.alice.ca978112ca1bbdca"]));
  const { structured } = await agent.caller.call(
    "agent__events",
    { session_id: "a", after: 1 },
    { onBehalfOf: "alice" },
  );
  expect(structured).toEqual({ events: published.slice(1).map(({ body }) => body), last: published.length });
  const { structured: ofOther } = await agent.caller.call("agent__events", { session_id: "a" }, { onBehalfOf: "bob" });
  expect(ofOther).toEqual({ events: [], last: 0 });
});

test("the answer to a task that is due goes to where the session's replies went last, without correlation, and into its history", async () => {
  await using agent = await startTestAgent(echo);
  await agent.send("user.message", "UserMessage", message, { replyTo: "user.response.user-proxy", correlationId: "c" });
  await expect.poll(() => agent.finals(), WAIT).toHaveLength(1);

  await agent.caller.call(
    "agent__chat",
    { message: "It is due", session_id: message.sessionId, origin: "schedule" },
    { onBehalfOf: "user-proxy" },
  );

  await expect.poll(() => agent.finals(), WAIT).toHaveLength(2);
  expect(agent.finals()[1]).toMatchObject({
    topic: "user.response.user-proxy",
    correlationId: undefined,
    body: { isFinal: true, sessionId: message.sessionId },
  });
  expect(agent.finals()[1]?.body.content).toContain("It is due");
});

test("the answer to a task goes to the usual topic if the program that asked last is gone", async () => {
  await using agent = await startTestAgent(echo);
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const gone = await agent.bus.subscribe(
    { name: "gone", topics: ["user.response.gone"], kind: "copy" },
    async ({ body }) => {
      if (JSON.parse(Buffer.from(body).toString()).isFinal !== false) resolve();
    },
  );
  await agent.send("user.message", "UserMessage", message, { replyTo: "user.response.gone" });
  await answered;
  await gone[Symbol.asyncDispose]();

  await agent.caller.call(
    "agent__chat",
    { message: "It is due", session_id: message.sessionId, origin: "schedule" },
    { onBehalfOf: "user-proxy" },
  );

  await expect.poll(() => agent.finals().map(({ topic }) => topic), WAIT).toEqual(["user.response"]);
});

test("a session's history is told to who asks, and feedback enters it: bad feedback brings another answer", async () => {
  await using agent = await startTestAgent(echo);
  const history = async (count: number) => {
    await agent.send(
      "user.history.request",
      "ConversationHistoryRequest",
      { sessionId: message.sessionId },
      { replyTo: "user.history.response.user-proxy", correlationId: "h" },
    );
    await expect.poll(() => agent.heard("ConversationHistoryResponse"), WAIT).toHaveLength(count);
    return agent.heard("ConversationHistoryResponse").at(-1);
  };
  const feedback = (isPositive: boolean) =>
    agent.send("user.feedback", "UserFeedback", {
      sessionId: message.sessionId,
      messageId: "3f2a1b",
      isPositive,
      agentName: "RockBot",
    });
  expect((await history(1))?.body.turns).toEqual([]);

  await agent.send("user.message", "UserMessage", message, { replyTo: "user.response.user-proxy" });
  await expect.poll(() => agent.finals(), WAIT).toHaveLength(1);
  await feedback(true);
  await feedback(false);
  await expect.poll(() => agent.finals(), WAIT).toHaveLength(2);

  expect(agent.finals()[1]).toMatchObject({ topic: "user.response.user-proxy", correlationId: undefined });
  const answer = await history(2);
  expect(answer).toMatchObject({ topic: "user.history.response.user-proxy", correlationId: "h" });
  expect(answer?.body.turns.map(({ role }) => role)).toEqual(["user", "assistant", "system", "user", "assistant"]);
  expect(answer?.body.turns[2]?.content).toBe('The user marked the reply "3f2a1b" as helpful.');
});

test("a message whose reply topic is none of users is parked", async () => {
  await using agent = await startTestAgent(echo);

  await agent.send("user.message", "UserMessage", message, { replyTo: "tool.invoke.mcp" });

  await expect.poll(async () => (await agent.bus.inspect("agent.user", "parked"))?.messages, WAIT).toBe(1);
});

test("without a model the service says in one line what to set", async () => {
  const config = loadConfig(configSchema, { env: { OLLAMA_URL: "http://127.0.0.1:1" } });
  await using bus = createMemoryBus();

  await expect(startAgentService(bus, config, { service: "agent" })).rejects.toThrow(
    /^There is no model: set MODEL_URL and MODEL, and MODEL_API_KEY if it needs one; no Ollama answers at http:\/\/127\.0\.0\.1:1$/,
  );
});

test("an Ollama that answers is the model, without a setting, and the start says which", async () => {
  await using model = await startModelServer([{ text: "Hello." }], { models: ["qwen3:8b"], needsKey: false });
  await using ollama = await startPageServer({
    "/api/tags": {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ models: [{ name: "qwen3:8b" }] }),
    },
    "/v1/chat/completions": async (request, response) => {
      const answer = await fetch(`${model.url}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: await text(request),
      });
      response
        .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
        .end(await answer.text());
    },
  });
  const config = loadConfig(configSchema, { env: { OLLAMA_URL: ollama.url, AGENT_MODELS: "llama3.2" } });
  await using bus = createMemoryBus();
  await using agent = await startAgentService(bus, config, { service: "agent" });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  await caller.discovered();

  expect((await caller.call("agent__chat", { message: "Hello?" })).content).toBe("Hello.");
  expect(agent.notes).toEqual([
    `model     qwen3:8b at ${ollama.url}/v1, an Ollama that was found here`,
    expect.stringMatching(/^warning {3}Ollama gives qwen3:8b .* 4096 tokens/),
    expect.stringMatching(/^warning {3}Ollama gives llama3.2 .* 4096 tokens/),
  ]);
});

test("where a model is named for it, it writes a sentence about each service", async () => {
  const script = ({ messages }: { readonly messages: readonly { readonly text: string }[] }) => {
    const asked = messages.map(({ text }) => text).join("\n");
    return { text: asked.includes("the line of a catalogue") ? "Multiplies numbers." : asked };
  };
  const { tool } = slowTool();
  await using agent = await startTestAgent(script, { tools: [tool], env: { SUMMARY_MODEL: "test-model" } });

  const ask = async () => (await agent.caller.call("agent__chat", { message: "multiply 6 by 7" })).content;
  await expect.poll(ask, WAIT).toContain("- tests (tool): Multiplies numbers, top tools: multiply");
});

test("a full whiteboard is said as the agent's own word, with what ends an entry", async () => {
  const writes = (from: number, to: number) => {
    const toolCalls = Array.from({ length: to - from }, (_, i) => ({
      name: "whiteboard_write",
      arguments: { key: `note-${from + i}`, content: "x" },
    }));
    return { toolCalls };
  };
  await using agent = await startTestAgent([writes(0, 32), writes(32, 51), { text: "Done." }]);

  await agent.send("user.message", "UserMessage", message, { replyTo: "user.response.user-proxy" });
  await expect.poll(() => agent.finals(), WAIT).toHaveLength(1);
  const refused = (agent.model.requests[2]?.messages ?? []).flatMap(({ role, text }) =>
    role === "tool" && text.includes("is full") ? [text] : [],
  );
  expect(refused).toEqual([expect.stringMatching(/^execution_failed: Cannot keep .*written with the ttl_minutes 1\./)]);
});
