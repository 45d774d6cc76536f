import { createHash } from "node:crypto";
import { ToolError } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { openStream } from "../sessions/test-stream.ts";
import { startTestGateway } from "../test-gateway.ts";
import { serveTestAgent, twoWords } from "./test-agent.ts";

const clientOf = (url: string, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "none-needed", maxRetries: 0, defaultHeaders: headers });
const hello = { model: "rockbot", messages: [{ role: "user" as const, content: "Hello?" }] };

test("OpenAI's client gets an answer, with what the turn used", async () => {
  await using gateway = await startTestGateway();
  await using agent = await serveTestAgent(gateway.bus, twoWords);
  const answer = await clientOf(gateway.url).chat.completions.create(hello);

  expect(answer).toMatchObject({
    id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
    object: "chat.completion",
    model: "rockbot",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello there." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
  });
  expect(agent.turns[0]?.input).toEqual({ messages: [{ role: "user", content: "Hello?" }] });
  expect(answer._request_id).toBe(answer.id.slice("chatcmpl-".length));
});

test("without a session all messages are the conversation; with one the newest of the user is taken", async () => {
  await using gateway = await startTestGateway();
  await using agent = await serveTestAgent(gateway.bus, twoWords);
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "developer", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "One," },
        { type: "text", text: "two" },
      ],
    },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c1", content: "3" },
    { role: "user", content: "And?" },
  ];
  await clientOf(gateway.url).chat.completions.create({ model: "rockbot", messages });
  await clientOf(gateway.url, { "rockbot-session": "s-1" }).chat.completions.create({
    model: "other",
    messages,
    max_completion_tokens: 9,
  });

  expect(agent.turns.map(({ input }) => input)).toEqual([
    {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "One,\ntwo" },
        { role: "assistant", content: null, tool_calls: [{ id: "c1", name: "f", arguments: "{}" }] },
        { role: "tool", content: "3", tool_call_id: "c1" },
        { role: "user", content: "And?" },
      ],
    },
    { message: "And?", session_id: "s-1", model: "other", max_output_tokens: 9 },
  ]);
});

test("OpenAI's client streams an answer as it is written, with steps of tools in chunks that add nothing", async () => {
  await using gateway = await startTestGateway();
  const goOn = Promise.withResolvers<void>();
  await using _agent = await serveTestAgent(gateway.bus, async ({ tell }) => {
    await tell({ kind: "text", text: "Let me look. " });
    await tell({ kind: "tool_started", toolCallId: "t1", toolName: "web_browse", arguments: "{}" });
    await goOn.promise;
    await tell({ kind: "tool_finished", toolCallId: "t1", toolName: "web_browse", status: "ok" });
    await tell({ kind: "text", text: "It" });
    await tell({ kind: "text", text: " is so." });
    return { text: "It is so.", isUntrusted: true };
  });
  const stream = await clientOf(gateway.url).chat.completions.create({
    ...hello,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  const steps: unknown[] = [];
  let usage: unknown;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    const { rockbot } = chunk as { rockbot?: { kind?: string } };
    if (rockbot !== undefined) steps.push(rockbot.kind ?? rockbot);
    if (rockbot?.kind === "tool_started") goOn.resolve();
    usage = chunk.usage ?? usage;
  }

  expect(text).toBe("Let me look. It is so.");
  expect(steps).toEqual([
    "turn_started",
    "tool_started",
    "tool_finished",
    expect.objectContaining({ finish: "stop", isUntrusted: true }),
  ]);
  expect(usage).toEqual({ prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 });
});

test("an answer that another agent takes up begins on a line of its own, which says so; a stream that begins later has the last version only", async () => {
  await using gateway = await startTestGateway();
  const seen = Promise.withResolvers<void>();
  await using _agent = await serveTestAgent(gateway.bus, async ({ tell }) => {
    await tell({ kind: "text", text: "The answer is fo" });
    await seen.promise;
    await tell({ kind: "notice", text: "The turn is taken up again where it was cut off.", dropsText: true });
    await tell({ kind: "text", text: "The answer is four." });
    return { text: "The answer is four." };
  });
  const headers = { "rockbot-session": "s", "idempotency-key": "k" };
  const stream = await clientOf(gateway.url, headers).chat.completions.create({ ...hello, stream: true });
  let text = "";
  const marked: string[] = [];
  for await (const chunk of stream) {
    const content = chunk.choices[0]?.delta.content ?? "";
    text += content;
    if ((chunk as { rockbot?: { dropsText?: boolean } }).rockbot?.dropsText) marked.push(content);
    if (text !== "") seen.resolve();
  }
  using session = await openStream({ port: gateway.port, path: "/v1/sessions/s/events" });
  await expect.poll(() => session.events().at(-1)?.event).toBe("turn_finished");
  const again = await clientOf(gateway.url, headers).chat.completions.stream(hello).finalChatCompletion();

  expect(text).toBe("The answer is fo\n\n(The answer begins again.)\n\nThe answer is four.");
  expect(marked).toEqual(["\n\n(The answer begins again.)\n\n"]);
  expect(again.choices[0]?.message.content).toBe("The answer is four.");
  expect(session.events().flatMap(({ event, data }) => (event === "text" ? JSON.parse(data).text : []))).toEqual([
    "The answer is four.",
  ]);
});

test("text that the bus has lost is in the stream all the same", async () => {
  await using gateway = await startTestGateway();
  await using _agent = await serveTestAgent(gateway.bus, async ({ tell }) => {
    await tell({ kind: "text", text: "One, " });
    await tell({ kind: "text", text: "two, " }, true);
    await tell({ kind: "text", text: "three, " });
    await tell({ kind: "text", text: "four" }, true);
    return { text: "One, two, three, four" };
  });
  const { choices } = await clientOf(gateway.url).chat.completions.stream(hello).finalChatCompletion();

  expect(choices[0]?.message.content).toBe("One, two, three, four");
});

test("calls of the client's own tools are returned, in an answer and in a stream", async () => {
  await using gateway = await startTestGateway();
  await using agent = await serveTestAgent(gateway.bus, async () => ({
    finish: "tool_calls",
    tool_calls: [
      { id: "call_1", name: "get_weather", arguments: '{"city":"Köln"}' },
      { id: "call_2", name: "get_weather", arguments: "{}" },
    ],
  }));
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const request = {
    ...hello,
    tools: [{ type: "function" as const, function: { name: "get_weather", description: "The weather.", parameters } }],
  };
  const client = clientOf(gateway.url);
  const answers = [
    await client.chat.completions.create(request),
    await client.chat.completions.stream(request).finalChatCompletion(),
  ];

  expect(agent.turns[0]?.input.tools).toEqual([{ name: "get_weather", description: "The weather.", parameters }]);
  for (const { choices } of answers) {
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Köln"}' } },
      { id: "call_2", type: "function", function: { name: "get_weather", arguments: "{}" } },
    ]);
  }
});

test.each([
  ["limit", "length"],
  ["length", "length"],
  ["refused", "content_filter"],
] as const)("a turn that ended by %s has the reason %s", async (finish, reason) => {
  await using gateway = await startTestGateway();
  await using _agent = await serveTestAgent(gateway.bus, async () => ({ text: "So far.", finish, reason: "why" }));
  const { choices, ...rest } = await clientOf(gateway.url).chat.completions.create(hello);

  expect(choices[0]).toMatchObject({ finish_reason: reason, message: { content: "So far." } });
  expect(rest).toMatchObject({ rockbot: { finish, reason: "why" } });
});

test("a turn that failed is an error, in an answer and in a stream", async () => {
  await using gateway = await startTestGateway();
  const seen = Promise.withResolvers<void>();
  await using _agent = await serveTestAgent(gateway.bus, async ({ tell }) => {
    await tell({ kind: "text", text: "Well" });
    await seen.promise;
    return { finish: "failed", reason: "the model cannot be reached", code: "unavailable" };
  });
  const client = clientOf(gateway.url);

  await expect(
    client.chat.completions
      .stream(hello)
      .on("content", () => seen.resolve())
      .done(),
  ).rejects.toMatchObject({
    code: "execution_failed",
    message: "Cannot answer: the model cannot be reached",
  });
  await expect(client.chat.completions.create(hello)).rejects.toMatchObject({
    status: 502,
    type: "server_error",
    code: "execution_failed",
    message: "502 Cannot answer: the model cannot be reached",
  });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(hello),
  });
  expect(await response.json()).toMatchObject({ rockbot: { details: { reason: "unavailable" } } });
});

test("where no agent runs, that is the error, with what to do", async () => {
  await using gateway = await startTestGateway();
  const client = clientOf(gateway.url);
  const error = {
    status: 503,
    type: "server_error",
    code: "unavailable",
    message: expect.stringMatching(/no agent runs\. Set MODEL/),
  };

  await expect(client.chat.completions.create(hello)).rejects.toMatchObject(error);
  await expect(client.chat.completions.create({ ...hello, stream: true })).rejects.toMatchObject(error);
  await expect(client.models.list()).rejects.toMatchObject(error);
  await expect(client.embeddings.create({ model: "small", input: "a" })).rejects.toMatchObject(error);
});

test.each<[string, Record<string, unknown>, string, RegExp]>([
  ["no messages", { messages: [] }, "messages", /at least one/],
  ["several answers", { n: 2 }, "n", /one answer/],
  ["a stop that is no text", { stop: [1] }, "stop", /list of texts/],
  [
    "JSON by no schema",
    { response_format: { type: "json_schema" } },
    "response_format",
    /with a schema in json_schema/,
  ],
  ["sound", { modalities: ["text", "audio"], audio: {} }, "modalities", /answers in text.*audio: /],
  ["functions of before", { functions: [{ name: "f" }] }, "functions", /send tools/],
  ["a call of a tool that is not there", { tool_choice: "required" }, "tool_choice", /that tool among tools/],
])("a request for %s is refused in words", async (_, fields, param, words) => {
  await using gateway = await startTestGateway();
  await using agent = await serveTestAgent(gateway.bus, twoWords);
  const asked = clientOf(gateway.url).chat.completions.create({
    ...hello,
    ...fields,
  } as OpenAI.ChatCompletionCreateParamsNonStreaming);

  await expect(asked).rejects.toMatchObject({
    status: 400,
    type: "invalid_request_error",
    code: "invalid_arguments",
    param,
    message: expect.stringMatching(words),
  });
  expect(agent.turns).toEqual([]);
});

test("parameters that tune a model, or say nothing, are passed over, as chat clients send them all", async () => {
  await using gateway = await startTestGateway();
  await using agent = await serveTestAgent(gateway.bus, twoWords);
  const tuned = {
    temperature: 0.7,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    seed: 2 ** 60,
    user: "u",
    n: 1,
    stop: null,
    logit_bias: {},
    functions: [],
    function_call: "none" as const,
  };
  await clientOf(gateway.url).chat.completions.create({
    ...hello,
    ...tuned,
    parallel_tool_calls: false,
    response_format: { type: "text" },
    metadata: { a: "b" },
  });

  expect(agent.turns[0]?.input).toEqual({ messages: hello.messages });
});

test("the agent is a model among models", async () => {
  await using gateway = await startTestGateway();
  await using _agent = await serveTestAgent(gateway.bus, twoWords);
  const client = clientOf(gateway.url);
  await expect
    .poll(async () => (await client.models.list().catch(() => undefined))?.data)
    .toMatchObject([{ id: "rockbot", object: "model", owned_by: "rockbot" }]);

  expect(await client.models.retrieve("rockbot")).toMatchObject({ id: "rockbot" });
  await expect(client.models.retrieve("gpt/x")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
});

test("a turn is its token's caller's, who may ask the agent or not", async () => {
  const hash = (token: string) => `sha256:${createHash("sha256").update(token).digest("hex")}`;
  const yaml = `
everyone: { allow: ["*"] }
callers: { alice: { tokens: [{ hash: "${hash("alice-token")}" }] }, bob: { tokens: [{ hash: "${hash("bob-token")}" }], deny: ["agent__chat"] } }
`;
  await using gateway = await startTestGateway({}, holdPolicy(createPolicy(await readPolicy(yaml, "of the test"))));
  await using agent = await serveTestAgent(gateway.bus, twoWords);
  const as = (name: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: `${name}-token`, maxRetries: 0 });
  await as("alice").chat.completions.create(hello);
  const text = await as("alice").chat.completions.stream(hello).finalContent();

  expect([text, agent.turns.map(({ caller }) => caller)]).toEqual(["Hello there.", ["alice", "alice"]]);
  for (const stream of [false, true])
    await expect(as("bob").chat.completions.create({ ...hello, stream })).rejects.toMatchObject({
      status: 403,
      type: "permission_error",
      code: "denied",
    });
  expect((await as("bob").models.list()).data).toEqual([]);
});

test("OpenAI's client repeats a request that surely has not run, and none that may have", async () => {
  await using gateway = await startTestGateway();
  let asked = 0;
  await using _agent = await serveTestAgent(gateway.bus, async () => {
    asked++;
    throw new ToolError(asked === 1 ? "overloaded" : "timeout", "Cannot answer now", {
      retryAfterMs: 1,
      details: { mayHaveRun: asked > 1 },
    });
  });
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 5 });

  await expect(client.chat.completions.create(hello)).rejects.toMatchObject({ status: 504, code: "timeout" });
  expect(asked).toBe(2);
});

test("a refused token is an error in OpenAI's form", async () => {
  await using gateway = await startTestGateway({ gatewayToken: "a-token-of-some-length" });
  await expect(clientOf(gateway.url).models.list()).rejects.toMatchObject({
    status: 401,
    type: "authentication_error",
    code: "unauthorized",
  });
});
