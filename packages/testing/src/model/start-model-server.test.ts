import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { type ModelServer, startModelServer } from "./start-model-server.ts";

const parameters = { type: "object" as const, properties: { url: { type: "string" } } };

async function post(
  server: ModelServer,
  path: "chat/completions" | "messages",
  body: unknown,
  headers: Record<string, string> = {},
) {
  const own =
    path === "messages"
      ? { "x-api-key": server.apiKey, "anthropic-version": "2023-06-01" }
      : { authorization: `Bearer ${server.apiKey}` };
  const response = await fetch(`${server.url}/${path}`, {
    method: "POST",
    headers: { ...own, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    body: (await response.json()) as { error?: { message: string; type: string; code?: string } },
  };
}

describe("the makers' own clients", () => {
  test("OpenAI's reads texts, calls, refusals and usage, streamed and whole", async () => {
    await using server = await startModelServer(() => ({
      text: "Hello 😀 world.",
      toolCalls: [{ name: "web_browse", arguments: { url: "x" } }],
    }));
    const client = new OpenAI({ baseURL: server.url, apiKey: server.apiKey, maxRetries: 0 });
    const request = {
      model: server.model,
      messages: [{ role: "user" as const, content: "?" }],
      tools: [{ type: "function" as const, function: { name: "web_browse", description: "Read a page.", parameters } }],
    };

    const whole = await client.chat.completions.create(request);
    const streamed = await client.chat.completions
      .stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion();

    for (const { choices, usage } of [whole, streamed]) {
      expect(choices[0]).toMatchObject({
        finish_reason: "tool_calls",
        message: { role: "assistant", content: "Hello 😀 world." },
      });
      expect(choices[0]?.message.tool_calls).toMatchObject([
        { type: "function", function: { name: "web_browse", arguments: '{"url":"x"}' } },
      ]);
      expect(usage?.prompt_tokens).toBe(server.requests[0]?.inputTokens);
    }
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["test-model"]);
  });

  test("Anthropic's reads texts, calls, thoughts and usage, streamed and whole", async () => {
    await using server = await startModelServer(() => ({
      text: "Hello 😀 world.",
      toolCalls: [{ name: "web_browse", arguments: { url: "x" } }],
    }));
    const client = new Anthropic({ baseURL: server.url.replace("/v1", ""), apiKey: server.apiKey, maxRetries: 0 });
    const request = {
      model: server.model,
      max_tokens: 100,
      messages: [{ role: "user" as const, content: "?" }],
      tools: [{ name: "web_browse", description: "Read a page.", input_schema: parameters }],
    };

    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();

    for (const message of [whole, streamed]) {
      expect(message).toMatchObject({
        role: "assistant",
        stop_reason: "tool_use",
        usage: { input_tokens: server.requests[0]?.inputTokens },
      });
      expect(message.content).toMatchObject([
        { type: "text", text: "Hello 😀 world." },
        { type: "tool_use", name: "web_browse", input: { url: "x" } },
      ]);
    }
  });

  test("both see the errors that a script makes", async () => {
    await using server = await startModelServer(() => ({ status: 429, headers: { "retry-after": "7" } }));
    const openai = new OpenAI({ baseURL: server.url, apiKey: server.apiKey, maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: server.url.replace("/v1", ""), apiKey: server.apiKey, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "?" }];

    const refused = { status: 429, headers: expect.objectContaining({}) };
    await expect(openai.chat.completions.create({ model: server.model, messages })).rejects.toMatchObject({
      ...refused,
      code: "rate_limit_exceeded",
    });
    await expect(anthropic.messages.create({ model: server.model, max_tokens: 9, messages })).rejects.toMatchObject(
      refused,
    );
  });
});

const call = { id: "call_1", type: "function", function: { name: "web_browse", arguments: "{}" } };
const ask = { role: "user", content: "?" };
const tool = (rest: object): object => ({
  type: "function",
  function: { name: "web_browse", parameters: { type: "object", properties: {} }, ...rest },
});

test.each([
  ["no messages", {}, "Missing required parameter: 'messages'."],
  ["an empty conversation", { messages: [] }, "Invalid 'messages': empty array"],
  ["an unknown role", { messages: [{ role: "robot", content: "?" }] }, "Invalid value: 'robot'"],
  [
    "an answer without words",
    { messages: [ask, { role: "assistant", content: null }] },
    "Invalid value for 'content': expected a string, got null.",
  ],
  [
    "a call without a result",
    { messages: [ask, { role: "assistant", content: null, tool_calls: [call] }, ask] },
    "did not have response messages: call_1",
  ],
  [
    "a call at the end",
    { messages: [ask, { role: "assistant", content: null, tool_calls: [call] }] },
    "did not have response messages: call_1",
  ],
  [
    "a result without a call",
    { messages: [ask, { role: "tool", tool_call_id: "call_1", content: "?" }] },
    "must be a response to a preceeding message",
  ],
  [
    "arguments as an object",
    { messages: [ask, { role: "assistant", tool_calls: [{ ...call, function: { name: "a", arguments: {} } }] }] },
    "expected a string, but got an object",
  ],
  [
    "a long id",
    { messages: [ask, { role: "assistant", tool_calls: [{ ...call, id: "x".repeat(41) }] }] },
    "string too long. Expected a string with maximum length 40",
  ],
  ["a field of its own", { messages: [ask], session_id: "x" }, "Unrecognized request argument supplied: session_id"],
  ["no tools", { messages: [ask], tools: [] }, "Invalid 'tools': empty array"],
  [
    "too many tools",
    { messages: [ask], tools: Array.from({ length: 129 }, () => tool({})) },
    "array too long. Expected an array with maximum length 128",
  ],
  [
    "a tool with a space",
    { messages: [ask], tools: [tool({ name: "web browse" })] },
    "Expected a string that matches the pattern",
  ],
  [
    "a schema that is a list",
    { messages: [ask], tools: [tool({ parameters: { type: "array" } })] },
    `got 'type: "array"'`,
  ],
  ["a choice without tools", { messages: [ask], tool_choice: "auto" }, "is only allowed when 'tools' are specified"],
  ["an answer of no tokens", { messages: [ask], max_tokens: 0 }, "integer below minimum value"],
  ["a longer answer than there is", { messages: [ask], max_tokens: 99_999 }, "max_tokens is too large: 99999"],
  ["another model", { model: "gpt-9", messages: [ask] }, "The model `gpt-9` does not exist"],
])("OpenAI's protocol refuses %s", async (_, body, words) => {
  await using server = await startModelServer([]);

  const { status, body: answer } = await post(server, "chat/completions", { model: server.model, ...body });

  expect(answer.error?.message).toContain(words);
  expect(status).toBe(words.includes("does not exist") ? 404 : 400);
  expect(server.requests[0]?.refused).toBe(answer.error?.message);
});

const use = { type: "tool_use", id: "toolu_1", name: "web_browse", input: {} };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "?" };
const tools = [{ name: "web_browse", input_schema: { type: "object" } }];
const cached = { type: "text", text: "?", cache_control: { type: "ephemeral" } };

test.each([
  ["no length", { max_tokens: undefined, messages: [ask] }, "max_tokens: Field required"],
  [
    "an assistant at first",
    { messages: [{ role: "assistant", content: "?" }] },
    'first message must use the "user" role',
  ],
  [
    "a system message among the others",
    { messages: [ask, { role: "system", content: "?" }] },
    'Unexpected role "system"',
  ],
  ["an empty message", { messages: [ask, { role: "assistant", content: [] }, ask] }, "must have non-empty content"],
  ["an empty text", { messages: [{ role: "user", content: [{ type: "text", text: "" }] }] }, "must be non-empty"],
  ["a text of spaces", { messages: [{ role: "user", content: "  " }] }, "must contain non-whitespace text"],
  [
    "a call without a result",
    { tools, messages: [ask, { role: "assistant", content: [use] }, ask] },
    "`tool_use` ids were found without `tool_result` blocks",
  ],
  [
    "a result after words",
    { tools, messages: [ask, { role: "assistant", content: [use] }, { role: "user", content: [cached, result] }] },
    "ids were found without",
  ],
  [
    "a result twice",
    { tools, messages: [ask, { role: "assistant", content: [use] }, { role: "user", content: [result, result] }] },
    "must have a single result",
  ],
  [
    "a result without a call",
    { tools, messages: [{ role: "user", content: [result] }] },
    "unexpected `tool_use_id` found",
  ],
  [
    "an id twice",
    { tools, messages: [ask, { role: "assistant", content: [use, use] }, { role: "user", content: [result] }] },
    "ids must be unique",
  ],
  [
    "calls without tools",
    { messages: [ask, { role: "assistant", content: [use] }, { role: "user", content: [result] }] },
    "must define tools",
  ],
  [
    "input as a text",
    {
      tools,
      messages: [ask, { role: "assistant", content: [{ ...use, input: "{}" }] }, { role: "user", content: [result] }],
    },
    "Input should be a valid dictionary",
  ],
  ["a tool twice", { tools: [...tools, ...tools], messages: [ask] }, "Tool names must be unique"],
  [
    "a schema of draft 7",
    { tools: [{ name: "a", input_schema: { type: "object", properties: { a: { items: [{}] } } } }], messages: [ask] },
    "must match JSON Schema draft 2020-12",
  ],
  [
    "five breakpoints",
    { messages: [{ role: "user", content: [cached, cached, cached, cached, cached] }] },
    "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  ],
  [
    "spaces at the end",
    { messages: [ask, { role: "assistant", content: "So: " }] },
    "cannot end with trailing whitespace",
  ],
  [
    "a field of its own",
    { messages: [ask], prompt_cache_key: "x" },
    "prompt_cache_key: Extra inputs are not permitted",
  ],
])("Anthropic's protocol refuses %s", async (_, body, words) => {
  await using server = await startModelServer([]);

  const { status, body: answer } = await post(server, "messages", { model: server.model, max_tokens: 100, ...body });

  expect(answer.error).toMatchObject({ type: "invalid_request_error", message: expect.stringContaining(words) });
  expect(status).toBe(400);
});

test("a key, a version and JSON are needed", async () => {
  await using server = await startModelServer([]);

  expect(await post(server, "chat/completions", {}, { authorization: "Bearer wrong" })).toMatchObject({
    status: 401,
    body: { error: { code: "invalid_api_key" } },
  });
  expect(await post(server, "messages", {}, { "x-api-key": "wrong" })).toMatchObject({
    status: 401,
    body: { error: { type: "authentication_error" } },
  });
  expect(await post(server, "chat/completions", "{]")).toMatchObject({ status: 400 });
  expect((await fetch(`${server.url}/models`)).status).toBe(401);
  expect((await fetch(`${server.url}/elsewhere`)).status).toBe(404);
});

test("a script that is over says so", async () => {
  await using server = await startModelServer([{ text: "Only this." }]);
  const body = { model: server.model, messages: [ask] };

  expect((await post(server, "chat/completions", body)).status).toBe(200);
  expect(await post(server, "chat/completions", body)).toMatchObject({
    status: 400,
    body: { error: { message: "The script has 1 steps, and this is request 2." } },
  });
});
