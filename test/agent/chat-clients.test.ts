import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { configSchema as agentSchema, startAgentService } from "@rockbot/agent-service";
import { createMemoryBus } from "@rockbot/bus";
import { configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { loadConfig } from "@rockbot/process/config";
import { type ModelStep, startModelServer, startRecordingServer } from "@rockbot/testing";
import { serveTools } from "@rockbot/tools";
import { generateObject, jsonSchema } from "ai";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { effectTool } from "./effect-tool.ts";

/** The agent and its gateway, in front of a model that plays a script. */
async function startChat(
  script: readonly ModelStep[],
  { model = "test-model", env = {} }: { readonly model?: string; readonly env?: object } = {},
) {
  await using started = new AsyncDisposableStack();
  const server = started.use(await startModelServer(script, { models: [model], contextTokens: 60_000 }));
  const bus = started.use(createMemoryBus());
  started.use(await serveTools(bus, { tools: [effectTool(async () => {})] }, { service: "effects" }));
  const settings = { MODEL_URL: server.url, MODEL: server.model, MODEL_API_KEY: server.apiKey, ...env };
  started.use(
    await startAgentService(bus, loadConfig(agentSchema, { env: settings }), {
      service: "agent",
      topic: "tool.invoke.agent",
    }),
  );
  const { url } = started.use(await startGateway(bus, loadConfig(gatewaySchema, { env: {}, overrides: { port: 0 } })));
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none needed", maxRetries: 0 });
  const all = started.move();
  const request = (body: object) =>
    ({ model: "rockbot", messages, ...body }) as OpenAI.ChatCompletionCreateParamsNonStreaming;
  return {
    url: `${url}/v1`,
    client,
    request,
    /** Reads a stream to its end. */
    ask: async (body: object) => {
      const answer = await client.chat.completions.create(request(body));
      if ("stream" in body && body.stream === true) for await (const _ of answer as unknown as AsyncIterable<unknown>);
      return answer;
    },
    /** What the model was asked in each request. */
    asked: () =>
      server.requests.map(
        ({ body }) =>
          body as { messages: object[]; tools?: (typeof named)[]; tool_choice?: unknown; response_format?: object },
      ),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const messages = [{ role: "user" as const, content: "A book?" }];
const parameters = {
  type: "object",
  properties: { title: { type: "string" }, pages: { type: "integer" } },
  required: ["title", "pages"],
};
const toolOf = (name: string) => ({ type: "function", function: { name, description: "A book.", parameters } });
const named = { type: "function", function: { name: "Book" } };
const byTool = { parallel_tool_calls: false, tools: [toolOf("Book")] };
const formOf = (schema: object) => ({
  response_format: { type: "json_schema", json_schema: { schema, name: "Book", strict: true } },
});
const form = formOf({ ...parameters, title: "Book", additionalProperties: false });
const odd = {
  title: { type: "string", pattern: "^(?=A)", format: "book-title" },
  pages: { anyOf: [{ type: "integer" }], discriminator: { propertyName: "a" } },
};
const foreign = {
  ...parameters,
  $schema: "https://json-schema.org/draft/2020-12/schema",
  properties: odd,
  "x-own": [{ prefixItems: [] }],
};
const json = '{"title": "A", "pages": 3}';
const call = { name: "Book", arguments: JSON.parse(json) };
const own = { toolCalls: [{ name: "effect", arguments: { what: "noted" } }] };
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const imageAt = (url: string) => ({ type: "image_url", image_url: { url, detail: "auto" } });
const said = (...content: object[]) => ({ messages: [{ role: "user", content }] });
const picture = said({ type: "text", text: "And this?" }, imageAt(PIXEL));

// The bodies are modelled on those that these clients sent to a server that records them: langchain-openai 1.7.4 and
// llama-index-llms-openai 0.8.3 of PyPI. LibreChat's title call is withStructuredOutput of LangChain
// (danny-avila/agents d8751a6, src/utils/title.ts); Continue's body is that of continuedev/continue 0228b89,
// core/llm/openaiTypeConverters.ts.
test.each<[client: string, body: object, steps: ModelStep[], expected: object]>([
  [
    "LangChain's with_structured_output",
    form,
    [own, { text: `Here:\n\`\`\`json\n${json}\n\`\`\`` }],
    { content: json },
  ],
  ["its json_mode", { response_format: { type: "json_object" } }, [{ text: "[1]" }, { text: json }], { content: json }],
  [
    "its function_calling",
    { ...byTool, tool_choice: named },
    [{ text: "Well, A." }, { toolCalls: [call] }],
    { call: "Book" },
  ],
  [
    "LlamaIndex's structured LLM",
    { ...form, temperature: 0.1 },
    [{ text: '{"title": "A"}' }, { text: json }],
    { content: json },
  ],
  [
    "its function program",
    { ...byTool, tool_choice: "required", temperature: 0.1 },
    [own, { toolCalls: [call, call] }],
    { call: "Book" },
  ],
  ["a schema of zod or pydantic", formOf(foreign), [{ text: json }], { content: json }],
  ["LibreChat's title call", form, [{ text: json }], { content: json }],
  [
    "Continue's chat",
    { ...picture, max_tokens: 99, stop: ["END"] },
    [{ text: "Red. END Blue." }],
    { content: "Red. " },
  ],
])("%s gets what it asks for, in an answer and in a stream", async (_, body, steps, expected) => {
  await using chat = await startChat([...steps, ...steps]);
  const completions = [
    await chat.ask(body),
    await chat.client.chat.completions.stream({ ...chat.request(body), stream: true }).finalChatCompletion(),
  ];

  for (const { choices } of completions) {
    const { content, tool_calls: calls = [] } = choices[0]?.message ?? {};
    expect(
      calls.length === 0
        ? { content }
        : { call: calls.map((each) => each.type === "function" && each.function.name).join() },
    ).toEqual(expected);
  }
  expect(chat.asked()).toHaveLength(steps.length * 2);
});

test("the AI SDK's generateObject gets its object, which a model that holds forms is held to by its maker", async () => {
  await using chat = await startChat([own, { text: json }], { model: "gpt-5" });
  const provider = createOpenAICompatible({ name: "own", baseURL: chat.url, supportsStructuredOutputs: true });
  const { object } = await generateObject({
    model: provider("rockbot"),
    schema: jsonSchema(parameters as object),
    prompt: "A book?",
  });

  expect(object).toEqual({ title: "A", pages: 3 });
  expect(chat.asked()[0]?.response_format).toMatchObject({
    type: "json_schema",
    json_schema: { schema: { required: ["title", "pages"] }, strict: true },
  });
});

test("a tool that has to be called binds the client's tools: the agent's own run before, and a second question is for the client's alone", async () => {
  await using chat = await startChat([own, { text: "Noted." }, { toolCalls: [call] }]);
  await chat.ask({ tools: [toolOf("Book"), toolOf("other")], tool_choice: named });
  const [first = [], , last] = chat.asked().map(({ tools = [] }) => tools.map((tool) => tool.function.name));

  expect(first).toEqual(expect.arrayContaining(["Book", "effect"]));
  expect(first).not.toContain("other");
  expect([last, chat.asked()[2]?.tool_choice]).toEqual([["Book"], "required"]);
});

const orphan = { role: "tool", tool_call_id: "zz", content: "ORPHAN-RESULT" };
const ofCall = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "zz", type: "function", function: { name: "Book", arguments: "{}" } }],
};

test.each<[what: string, body: object, steps: ModelStep[], error: object, words: RegExp]>([
  [
    "an answer that is unfit twice",
    form,
    [{ text: "{}" }, { text: "{}" }],
    { status: 502, code: "execution_failed" },
    /title/,
  ],
  [
    "no call, twice",
    { ...byTool, tool_choice: "required" },
    [{ text: "No." }, { text: "No." }],
    { status: 502 },
    /calls none/,
  ],
  [
    "a result without its call",
    { messages: [...messages, orphan] },
    [],
    { status: 400, code: "invalid_arguments", param: "messages[1].tool_call_id" },
    /messages\[1\]\.tool_call_id is of no call/,
  ],
  [
    "a result behind another message than its call's",
    { messages: [...messages, ofCall, ...messages, orphan] },
    [],
    { status: 400, param: "messages[3].tool_call_id" },
    /is of no call/,
  ],
  [
    "two results of one call",
    { messages: [...messages, ofCall, orphan, orphan, ...messages] },
    [],
    { status: 400, param: "messages[3].tool_call_id" },
    /has no result yet/,
  ],
  [
    "a schema that is none",
    formOf({ type: "thing" }),
    [],
    { status: 400, param: "response_format" },
    /not a usable JSON Schema/,
  ],
  [
    "too long a text",
    said({ type: "text", text: "word ".repeat(60_000) }),
    [],
    { status: 400, code: "context_length_exceeded" },
    /context/,
  ],
  [
    "another model",
    { model: "gpt-4o" },
    [],
    { status: 404, code: "model_not_found" },
    /the agent is the model "rockbot"/,
  ],
  ["an image for a model without eyes", picture, [], { status: 400, code: "invalid_arguments" }, /images.*sees none/],
  [
    "an image at an address",
    said(imageAt("https://example.com/a.png")),
    [],
    { status: 400, param: "messages[0].content[0].image_url" },
    /data URL/,
  ],
  ["too large an image", said(imageAt(PIXEL + "A".repeat(2 ** 20))), [], { status: 413 }, /larger than/],
])("%s is OpenAI's error, also in a stream", async (_, body, steps, error, words) => {
  await using chat = await startChat([...steps, ...steps], { model: "gpt-oss" });

  for (const stream of [false, true])
    await expect(chat.ask({ ...body, stream })).rejects.toMatchObject({
      ...error,
      message: expect.stringMatching(words),
    });
});

test("an image reaches the model as the caller's words", async () => {
  await using chat = await startChat([{ text: "Red." }]);

  expect(await chat.ask(picture)).toMatchObject({ rockbot: { isUntrusted: false } });
  expect(JSON.stringify(chat.asked()[0]?.messages)).toContain(PIXEL);
});

test("embeddings come from the agent's model for them, with the agent's key; without one, and on other paths, OpenAI's error comes", async () => {
  const vectors = { data: [{ embedding: [0.5, -2] }], usage: { prompt_tokens: 3 } };
  await using server = await startRecordingServer(
    (_, response) => void response.setHeader("content-type", "application/json").end(JSON.stringify(vectors)),
  );
  const env = { MODEL_URL: `${server.url}/v1`, EMBEDDING_MODEL: "small", MODEL_API_KEY: "key-of-the-agent" };
  await using chat = await startChat([], { env });
  await using without = await startChat([]);
  const embed = (more: object, { client } = chat) => client.embeddings.create({ model: "small", input: "a", ...more });

  // llama-index-embeddings-openai 0.7.0 and langchain-openai 1.7.4 ask for base64, as OpenAI's client does; Continue
  // for numbers.
  for (const more of [{}, { encoding_format: "float" }])
    expect(await embed(more)).toMatchObject({ data: vectors.data, usage: vectors.usage });
  expect(server.requests[0]?.headers.authorization).toBe("Bearer key-of-the-agent");
  const noModel = { status: 404, code: "model_not_found" };
  await expect(embed({}, without)).rejects.toMatchObject(noModel);
  await expect(embed({ model: "large" })).rejects.toMatchObject(noModel);
  await expect(embed({ input: [1, 2] })).rejects.toMatchObject({ status: 400, param: "input" });
  await expect(embed({ input: "" })).rejects.toMatchObject({
    status: 400,
    param: "input",
    message: expect.stringContaining("input: expected text that is not empty"),
  });
  await expect(embed({ input: ["a", ""] })).rejects.toMatchObject({ status: 400, param: "input[1]" });
  await expect(embed({ dimensions: 0 })).rejects.toMatchObject({ status: 400, param: "dimensions" });
  await expect(embed({ dimensions: 3 })).rejects.toMatchObject({ status: 400, param: "dimensions" });
  const noPath = {
    status: 404,
    type: "invalid_request_error",
    message: expect.stringMatching(/answers POST \/v1\/chat\/completions/),
  };
  await expect(chat.client.responses.create({ model: "rockbot", input: "?" })).rejects.toMatchObject(noPath);
  await expect(chat.client.batches.list()).rejects.toMatchObject(noPath);
});
