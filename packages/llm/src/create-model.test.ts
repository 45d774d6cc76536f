import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import {
  type ModelScript,
  type ModelServer,
  type ModelServerRequest,
  type ModelStep,
  type StartModelServerOptions,
  startModelServer,
} from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { type CreateModelOptions, createModel } from "./create-model.ts";
import type { ModelMessage, ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";

const PROTOCOLS = ["openai", "anthropic"] as const;
const question: ModelRequest = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "How are you?" },
  ],
};
const tools = [
  {
    name: "web_browse",
    description: "Read a page.",
    parameters: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
  },
];
const LONG = "A stable text that caches keep. ".repeat(300);

async function start(script: ModelScript, options: Partial<CreateModelOptions> & StartModelServerOptions = {}) {
  const server: ModelServer = await startModelServer(script, options);
  const model = createModel({ url: server.url, model: server.model, apiKey: server.apiKey, ...options });
  return { server, model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const errorOf = async (answer: Promise<unknown>): Promise<ModelError> => {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
};

const called = {
  name: "web_browse",
  arguments: { url: "https://example.com/", "with spaces": [1, { arguments: {} }] },
};
const inPieces = (delta: object, finish: string | null = null) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] }, undefined, 1).replaceAll("\n", "");
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

test.each([
  [
    "in a stream",
    {
      raw: [
        inPieces({ role: "assistant", content: "", tool_calls: [{ index: 0, id: "a", function: called }] }),
        inPieces({}, "tool_calls"),
      ],
    },
  ],
  [
    "in an answer that comes whole",
    {
      json: {
        choices: [
          {
            message: {
              role: "assistant",
              content: null,
              tool_calls: [{ id: "a", type: "function", function: called }],
            },
            finish_reason: "tool_calls",
          },
        ],
        usage,
      },
    },
  ],
] satisfies [string, ModelStep][])(
  "arguments that a server writes as an object are taken as their text, %s",
  async (_, step) => {
    await using one = await start([step]);

    expect(await one.model.answer({ ...question, tools })).toMatchObject({
      toolCalls: [{ id: "a", name: called.name, arguments: JSON.stringify(called.arguments) }],
      finish: "tool_calls",
    });
  },
);

test("the answer of a server that does not stream is taken, and shown at once", async () => {
  await using one = await start([
    {
      json: {
        choices: [{ index: 0, message: { role: "assistant", content: 'Say "arguments": {}.' }, finish_reason: "stop" }],
        usage,
      },
    },
  ]);
  const shown: string[] = [];

  const answer = await one.model.answer({ ...question, onText: (delta) => shown.push(delta) });

  expect(answer).toMatchObject({
    text: 'Say "arguments": {}.',
    finish: "stop",
    usage: { inputTokens: 7, outputTokens: 3 },
  });
  expect(shown.join("")).toBe(answer.text);
});

const said = (delta: object, finish: string | null = null) => inPieces({ role: "assistant", ...delta }, finish);

test.each([
  ["never says how it ended", { raw: [said({ content: "Well." })] }, "other"],
  [
    "never says how it ended, and came whole",
    { json: { choices: [{ message: { role: "assistant", content: "Well." } }], usage } },
    "other",
  ],
  [
    "has parts with no choices",
    { raw: ['{"choices":null}', said({ content: "Well." }), said({}, "stop"), `{"choices": null, "usage": {}}`] },
    "stop",
  ],
] satisfies [string, ModelStep, string][])(
  "an answer of OpenAI's protocol is taken that %s",
  async (_, step, finish) => {
    await using one = await start([step], { attempts: 1 });

    expect(await one.model.answer(question)).toMatchObject({ text: "Well.", finish });
  },
);

test("what Anthropic adds to its protocol is passed over, and tokens that a server does not count are estimated", async () => {
  const block = (index: number, start: object, ...deltas: readonly object[]) => [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const events = [
    {
      type: "message_start",
      message: { id: "m", type: "message", role: "assistant", content: [], model: "m", usage: { input_tokens: 9 } },
    },
    { type: "new_event", index: 1, text: "Never." },
    ...block(0, { type: "new_block", text: "" }, { type: "text_delta", text: "Never." }),
    ...block(
      1,
      { type: "text", text: "" },
      { type: "new_delta", text: "Never." },
      { type: "text_delta", text: "Well." },
    ),
    ...block(
      2,
      { type: "tool_use", id: "a", name: "web_browse", input: {} },
      { type: "input_json_delta", partial_json: "{}" },
    ),
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ];
  await using one = await start([{ raw: events.map((event) => JSON.stringify(event)) }], {
    protocol: "anthropic",
    attempts: 1,
  });

  const answer = await one.model.answer({ ...question, tools });

  expect(answer).toMatchObject({
    text: "Well.",
    toolCalls: [{ id: "a", name: "web_browse", arguments: "{}" }],
    finish: "tool_calls",
  });
  expect(answer.usage).toMatchObject({ isEstimated: true });
  expect(answer.usage.outputTokens).toBeGreaterThan(0);
});

describe.each(PROTOCOLS)("a model that speaks as %s", (protocol) => {
  test("answers, and shows the text as it comes", async () => {
    await using one = await start([{ text: "Very well, thank you. And how are you yourself?" }], { protocol });
    const shown: string[] = [];

    const answer = await one.model.answer({ ...question, onText: (delta) => shown.push(delta) });

    expect(answer).toMatchObject({
      text: "Very well, thank you. And how are you yourself?",
      toolCalls: [],
      finish: "stop",
    });
    expect(answer.usage).toEqual({
      inputTokens: one.server.requests[0]?.inputTokens,
      outputTokens: 12,
      cachedInputTokens: 0,
    });
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.join("")).toBe(answer.text);
    expect(one.server.requests[0]?.messages.map(({ role, text }) => [role, text])).toEqual([
      ["system", "Be brief."],
      ["user", "How are you?"],
    ]);
  });

  test("calls several tools at once, with arguments as it wrote them, and reads their results", async () => {
    const broken = '{"url": "https://example.com/", ';
    const calls = [
      { id: "a-1", name: "web_browse", arguments: '{ "url":"x" }' },
      { id: "a-2", name: "web_browse", arguments: broken },
    ];
    await using one = await start([{ text: "I look.", toolCalls: calls }, { text: "Done." }], { protocol });

    const { text: content, toolCalls, finish } = await one.model.answer({ ...question, tools });

    expect(finish).toBe("tool_calls");
    expect(toolCalls).toEqual(calls);
    const results = toolCalls.map(({ id, name }) => ({
      role: "tool" as const,
      toolCallId: id,
      toolName: name,
      content: `result of ${id}`,
    }));
    const second = await one.model.answer({
      ...question,
      tools,
      messages: [...question.messages, { role: "assistant", content, toolCalls }, ...results],
    });
    expect(second.text).toBe("Done.");
    expect(one.server.requests[1]?.messages.slice(2)).toMatchObject([
      {
        role: "assistant",
        text: "I look.",
        toolCalls: [{ id: "a-1" }, { id: "a-2", arguments: JSON.stringify({ unreadable_arguments: broken }) }],
      },
      { role: "tool", toolCallId: "a-1", text: "result of a-1" },
      { role: "tool", toolCallId: "a-2", text: "result of a-2" },
    ]);
  });

  test("keeps the tools in a request that asks for words only", async () => {
    await using one = await start([{ text: "Words." }], { protocol });

    await one.model.answer({ ...question, tools, toolChoice: "none" });

    expect(one.server.requests[0]?.toolNames).toEqual(["web_browse"]);
    expect(one.server.requests[0]?.body.tool_choice).toEqual(protocol === "openai" ? "none" : { type: "none" });
  });

  test.each([
    ["has spaces only in it", { text: "  \n" }, "interrupted", "there is nothing in it"],
    ["has no answer in it", { text: "" }, "interrupted", "there is nothing in it"],
    ["says that it calls tools, and calls none", { finish: "tool_calls" }, "interrupted", "there is nothing in it"],
    ["breaks off", { text: LONG, cutAfter: 5 }, "interrupted", "broke off"],
    ["ends in the middle", { text: LONG, endAfter: 5 }, "interrupted", "it ended in the middle"],
    ["fails in the middle", { text: LONG, errorAfter: 5, status: 503 }, "unavailable", "overloaded"],
    [
      "is an overflow in the middle",
      { text: LONG, errorAfter: 5, status: 400, error: { message: "prompt is too long: 9 tokens > 8 maximum" } },
      "context_overflow",
      "longer",
    ],
    ["has parts that are no JSON", { raw: ["{]"] }, "interrupted", "Cannot read"],
    ["has parts of an unknown form", { raw: ['{"choices":7}'] }, "interrupted", "Cannot read"],
    [
      "is status 200 with an error",
      { json: { error: { message: "No capacity", code: 503 } } },
      "unavailable",
      "No capacity",
    ],
    [
      "is status 200 with an error's text",
      { json: { error: "model runner has stopped" } },
      "unavailable",
      "model runner has stopped",
    ],
    [
      "is status 200 with the kind of an error",
      { json: { error: { type: "authentication_error", message: "No such key" } } },
      "unauthorized",
      "No such key",
    ],
    ["is no stream", { json: { choices: [] } }, "invalid_request", "not with a stream"],
    ["is status 400", { status: 400, error: { message: "Unknown field x" } }, "invalid_request", "Unknown field x"],
    ["is status 401", { status: 401 }, "unauthorized", "Check the API key"],
    ["is status 402", { status: 402, error: { message: "Insufficient credits" } }, "rate_limited", "no credit"],
    [
      "is status 403",
      { status: 403, error: { message: "not allowed to use this model" } },
      "unauthorized",
      "not allowed to use this model",
    ],
    ["is a moderation", { status: 403, error: { message: "Your input was flagged" } }, "refused", "refuses this text"],
    [
      "is a content filter",
      { status: 400, error: { message: "Output blocked by content filtering policy" } },
      "refused",
      "refuses",
    ],
    [
      "is about tools",
      { status: 400, error: { message: "gemma:2b does not support tools" } },
      "invalid_request",
      "set usesTextToolCalls",
    ],
    ["is status 404", { status: 404, error: { message: "no such model" } }, "invalid_request", "name of the model"],
    ["is status 408", { status: 408 }, "timeout", "too long"],
    ["is status 413", { status: 413 }, "context_overflow", "larger"],
    ["is status 429", { status: 429, headers: { "retry-after": "120" } }, "rate_limited", "no more requests"],
    ["is status 500", { status: 500 }, "unavailable", "status 500"],
    ["is status 529", { status: 529 }, "unavailable", "overloaded"],
  ] as const)("fails in words, and by its code, if the answer %s", async (_, step: ModelStep, code, words) => {
    await using one = await start(() => step, { protocol, attempts: 1 });

    const error = await errorOf(one.model.answer(question));

    expect(error.message).toContain(words);
    expect(error.message).toContain(`model "test-model" at ${new URL(one.server.url).host}`);
    expect(error.code).toBe(code);
    expect(inspect(error)).not.toContain(one.server.apiKey);
  });

  test("gives what it can read, if the request is longer", async () => {
    await using one = await start([{ text: "never" }], { protocol, contextTokens: 100 });

    const error = await errorOf(one.model.answer({ messages: [{ role: "user", content: LONG }] }));

    expect(error).toMatchObject({ code: "context_overflow", limitTokens: 100, isRetryable: false });
  });

  test("says that it refuses, with the words so far", async () => {
    await using one = await start(
      [
        { text: "Well, ", refusal: "I cannot help with that." },
        { text: "Well", finish: "content_filter" },
      ],
      { protocol },
    );

    expect(await one.model.answer(question)).toMatchObject({
      finish: "refused",
      text: "Well, I cannot help with that.",
      toolCalls: [],
    });
    expect(await one.model.answer(question)).toMatchObject({ finish: "refused", text: "Well" });
  });

  test("gives two calls two ids, whatever it says", async () => {
    const call = { id: "same", name: "web_browse" };
    await using one = await start([{ toolCalls: [call, call, call] }], { protocol });

    const ids = (await one.model.answer({ ...question, tools })).toolCalls.map(({ id }) => id);

    expect(ids[0]).toBe("same");
    expect(new Set(ids).size).toBe(3);
  });

  test("says that it ran out of tokens", async () => {
    await using one = await start([{ text: "It was a dark and", finish: "length" }], { protocol });

    expect(await one.model.answer({ ...question, maxOutputTokens: 5 })).toMatchObject({
      finish: "length",
      text: "It was a dark and",
    });
    expect(one.server.requests[0]?.body.max_tokens).toBe(5);
  });

  test("is asked again after a failure that may pass, and says so", async () => {
    const retries: string[] = [];
    const script: ModelScript = [
      { status: 503, headers: { "retry-after-ms": "1" } },
      { text: "half", cutAfter: 3 },
      { text: "At last." },
    ];
    await using one = await start(script, { protocol, onRetry: (error) => retries.push(error.code) });

    expect(await one.model.answer(question)).toMatchObject({ text: "At last." });
    expect(retries).toEqual(["unavailable", "interrupted"]);
    expect(new Set(one.server.requests.map(({ raw }) => raw)).size).toBe(1);
  });

  test("is asked as often as it may be, and no more", async () => {
    await using one = await start(() => ({ status: 500, headers: { "retry-after-ms": "1" } }), {
      protocol,
      attempts: 3,
    });

    expect(await errorOf(one.model.answer(question))).toMatchObject({ code: "unavailable", isRetryable: true });
    expect(one.server.requests).toHaveLength(3);
  });

  test("is not asked again once text was shown", async () => {
    await using one = await start(() => ({ text: LONG, cutAfter: 5 }), { protocol });
    const shown: string[] = [];

    await errorOf(one.model.answer({ ...question, onText: (delta) => shown.push(delta) }));

    expect(shown.length).toBeGreaterThan(0);
    expect(one.server.requests).toHaveLength(1);
  });

  test("is not asked again for what will not pass", async () => {
    await using one = await start(
      () => ({
        status: 429,
        error: { message: "You exceeded your quota", code: "insufficient_quota", type: "insufficient_quota" },
      }),
      {
        protocol,
        provider: "openai",
      },
    );
    const error = await errorOf(one.model.answer(question));

    if (protocol === "openai") {
      expect(error).toMatchObject({ code: "rate_limited", isRetryable: false });
      expect(one.server.requests).toHaveLength(1);
    } else expect(error.code).toBe("rate_limited");
  });

  test("waits as long as the provider asks, if that is within its time", async () => {
    const waits: number[] = [];
    const script: ModelScript = [
      { status: 429, headers: { "retry-after-ms": "20" } },
      { status: 429, headers: { "retry-after": "3600" } },
    ];
    await using one = await start(script, { protocol, onRetry: (_, waitMs) => waits.push(waitMs) });

    expect(await errorOf(one.model.answer(question))).toMatchObject({ code: "rate_limited", retryAfterMs: 3_600_000 });
    expect(waits).toEqual([20]);
  });

  test.each([
    ["does not begin", { delayMs: 60_000 }, { firstByteMs: 50 }, "no answer began within 0.05 s"],
    ["stands still", { text: LONG, stallAfter: 4 }, { idleMs: 50 }, "stood still for 0.05 s"],
  ] as const)("is not waited for if the answer %s", async (_, step: ModelStep, patience, words) => {
    await using one = await start(() => step, { protocol, attempts: 1, ...patience });

    const error = await errorOf(one.model.answer(question));

    expect(error.code).toBe("timeout");
    expect(error.message).toContain(words);
  });

  test("ends by its deadline", async () => {
    await using one = await start(() => ({ text: LONG, stallAfter: 4 }), { protocol });

    expect(await errorOf(one.model.answer({ ...question, deadline: performance.now() + 50 }))).toMatchObject({
      code: "timeout",
      isRetryable: false,
    });
    expect(await errorOf(one.model.answer({ ...question, deadline: performance.now() - 1 }))).toMatchObject({
      code: "timeout",
    });
  });

  test("stops with the signal, and breaks its request off", async () => {
    await using one = await start(() => ({ text: LONG, stallAfter: 4 }), { protocol });
    const controller = new AbortController();
    const reason = new Error("enough");

    const answer = one.model.answer({ ...question, signal: controller.signal, onText: () => controller.abort(reason) });

    await expect(answer).rejects.toBe(reason);
  });

  test("sends the same bytes for the same request", async () => {
    await using one = await start(() => ({ text: "Yes." }), { protocol });

    await one.model.answer({ ...question, tools, cacheKey: "k" });
    await one.model.answer({ ...structuredClone(question), tools: structuredClone(tools), cacheKey: "k" });

    expect(one.server.requests[0]?.raw).toBe(one.server.requests[1]?.raw);
  });

  test("finds the tools and the text before in the provider's cache", async () => {
    await using one = await start(() => ({ text: "Yes." }), { protocol });
    const messages: ModelMessage[] = [
      { role: "system", content: LONG },
      { role: "system", content: "hint of this turn" },
      { role: "user", content: LONG },
    ];
    const first = await one.model.answer({ messages, tools });
    messages.push({ role: "assistant", content: "Yes." }, { role: "user", content: "And now?" });
    const second = await one.model.answer({ messages, tools });
    messages[1] = { role: "system", content: "hint of another turn" };
    const third = await one.model.answer({ messages, tools });

    const length = LONG.length / 4;
    expect(first.usage.cachedInputTokens).toBe(0);
    expect(second.usage.cachedInputTokens).toBeGreaterThan(2 * length - 200);
    expect(third.usage.cachedInputTokens).toBeGreaterThan(length - 200);
    expect(third.usage.cachedInputTokens).toBeLessThan(2 * length - 200);
  });

  test("makes one session of what providers refuse: later system messages, empty ones, and half of a history", async () => {
    await using one = await start(() => ({ text: "Yes." }), { protocol });

    await one.model.answer({
      tools,
      messages: [
        { role: "tool", toolCallId: "lost", toolName: "web_browse", content: "of a call that was cut off" },
        { role: "user", content: "first" },
        { role: "user", content: "second" },
        { role: "assistant", content: " " },
        { role: "system", content: "a note" },
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "functions.web:0", name: "web browse!", arguments: "[1]" }],
        },
        { role: "user", content: "" },
        { role: "assistant", content: "", toolCalls: [{ id: "functions.web:0", name: "web_browse", arguments: "" }] },
        { role: "tool", toolCallId: "functions.web:0", toolName: "web_browse", content: "" },
        { role: "assistant", content: "  Yes  " },
        { role: "user", content: "third" },
      ],
    });

    expect(one.server.requests[0]?.refused).toBeUndefined();
    expect(one.server.requests[0]?.messages.map(({ role, text }) => [role, text])).toEqual([
      ["user", "first\n\nsecond\n\n<system>\na note\n</system>"],
      ["assistant", ""],
      ["tool", "No result of this call was kept."],
      ["user", "(no text)"],
      ["assistant", ""],
      ["tool", "(no text)"],
      ["assistant", protocol === "openai" ? "  Yes  " : "  Yes  "],
      ["user", "third"],
    ]);
  });

  test("sends no half of a surrogate pair, wherever one stands", async () => {
    await using one = await start(() => ({ text: "Yes." }), { protocol });
    const half = "cut here: \ud83d";

    await one.model.answer({
      tools: [
        {
          name: "look",
          description: half,
          parameters: { type: "object", properties: { url: { type: "string", description: half } } },
        },
      ],
      messages: [
        { role: "system", content: half },
        { role: "user", content: `${half} and a whole one: 👍, and its escape: \\ud83d` },
        { role: "assistant", content: half, toolCalls: [{ id: "a", name: "look", arguments: '{"url":"\\ud83d"}' }] },
        { role: "tool", toolCallId: "a", toolName: "look", content: half },
      ],
    });

    expect(one.server.requests[0]?.refused).toBeUndefined();
    const texts = one.server.requests[0]?.messages.map(({ text }) => text) ?? [];
    expect(texts).toContain("cut here: \ufffd and a whole one: 👍, and its escape: \\ud83d");
    expect(texts.at(-1)).toBe("cut here: \ufffd");
  });

  test("counts tokens by itself where the provider does not", async () => {
    await using one = await start([{ text: "Yes, so it is.", usage: { inputTokens: 0, outputTokens: 0 } }], {
      protocol,
    });

    expect((await one.model.answer(question)).usage).toEqual({ inputTokens: 6, outputTokens: 4, isEstimated: true });
  });

  test("is used by many at once", async () => {
    await using one = await start(({ messages }) => ({ text: messages.at(-1)?.text ?? "" }), { protocol });
    const words = Array.from({ length: 50 }, (_, index) => `word ${index}`);

    const answers = await Promise.all(
      words.map((content) => one.model.answer({ messages: [{ role: "user", content }] })),
    );

    expect(answers.map(({ text }) => text)).toEqual(words);
  });
});

describe("what a model thought", () => {
  test("goes back to Anthropic with its signature", async () => {
    await using one = await start(
      [
        { reasoning: "Let me see.", toolCalls: [{ id: "t1", name: "web_browse", arguments: { url: "x" } }] },
        { text: "Done." },
      ],
      {
        protocol: "anthropic",
      },
    );
    const { text: content, toolCalls, providerData } = await one.model.answer({ ...question, tools });
    const stored = JSON.parse(JSON.stringify(providerData));

    const result: ModelMessage = { role: "tool", toolCallId: "t1", toolName: "web_browse", content: "a page" };
    await one.model.answer({
      tools,
      messages: [...question.messages, { role: "assistant", content, toolCalls, providerData: stored }, result],
    });

    const { body } = one.server.requests[1] as ModelServerRequest;
    expect((body.messages as unknown[])[1]).toMatchObject({
      content: [
        { type: "thinking", thinking: "Let me see.", signature: "signed-0" },
        { type: "tool_use", id: "t1" },
      ],
    });
  });

  test("goes back to those that demand it, with each message", async () => {
    await using one = await start(
      [{ reasoning: "Let me see.", toolCalls: [{ id: "t1", name: "web_browse" }] }, { text: "Done." }],
      {
        models: ["deepseek-v4-pro"],
      },
    );
    const { text: content, toolCalls, providerData } = await one.model.answer({ ...question, tools });

    const messages: ModelMessage[] = [
      ...question.messages,
      { role: "assistant", content: "Fine.", providerData: { of: "another version" } },
      { role: "user", content: "Look." },
      { role: "assistant", content, toolCalls, providerData },
      { role: "tool", toolCallId: "t1", toolName: "web_browse", content: "a page" },
    ];
    await one.model.answer({ tools, messages });

    const sent = one.server.requests[1]?.body.messages as { role: string; reasoning_content?: string }[];
    expect(sent.filter(({ role }) => role === "assistant").map((message) => message.reasoning_content)).toEqual([
      "",
      "Let me see.",
    ]);
  });

  test("goes back to Gemini with the signature of each call", async () => {
    const signed = {
      index: 0,
      id: "g1",
      function: { name: "web_browse", arguments: "{}" },
      extra_content: { google: { thought_signature: "c2lnbmVk" } },
    };
    const raw = [signed].map((call) =>
      JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] }),
    );
    await using one = await start([{ raw }, { text: "Done." }], { models: ["gemini-3-pro-preview"] });
    const { text: content, toolCalls, providerData } = await one.model.answer({ ...question, tools });

    const result: ModelMessage = { role: "tool", toolCallId: "g1", toolName: "web_browse", content: "a page" };
    await one.model.answer({
      tools,
      messages: [...question.messages, { role: "assistant", content, toolCalls, providerData }, result],
    });

    const sent = one.server.requests[1]?.body.messages as { tool_calls?: unknown }[];
    expect(sent[2]?.tool_calls).toMatchObject([
      { id: "g1", extra_content: { google: { thought_signature: "c2lnbmVk" } } },
    ]);
  });

  test("goes back to nobody else", async () => {
    await using one = await start([{ reasoning: "Hm.", text: "Fine." }, { text: "Done." }], { models: ["gpt-5"] });
    const { text: content, providerData } = await one.model.answer(question);

    await one.model.answer({
      messages: [...question.messages, { role: "assistant", content, providerData }, { role: "user", content: "And?" }],
    });

    expect(one.server.requests[1]?.raw).not.toContain("Hm.");
  });
});

describe("a provider's own rules", () => {
  test("Anthropic hears how long an answer may be, and that leaves room for the question", async () => {
    await using one = await start(() => ({ text: "Yes." }), {
      models: ["claude-sonnet-4-5", "claude-3-haiku-20240307", "small"],
      protocol: "anthropic",
    });
    const { url, apiKey } = one.server;
    for (const model of ["claude-sonnet-4-5", "claude-3-haiku-20240307", "small"]) {
      await createModel({
        url,
        apiKey,
        model,
        protocol: "anthropic",
        behaviors: { small: { contextTokens: 8_000 } },
      }).answer(question);
    }

    expect(one.server.requests.map(({ body }) => body.max_tokens)).toEqual([32_000, 4_096, 2_000]);
  });

  test("OpenAI gets its name of the longest answer, the cache's key, and the rest of a long description elsewhere", async () => {
    await using one = await start([{ text: "Yes." }], { models: ["gpt-5-mini"], provider: "openai" });
    const description = `${"Reads a page. ".repeat(100)}The end.`;

    await one.model.answer({
      ...question,
      maxOutputTokens: 9,
      cacheKey: "session of alice",
      tools: [{ ...(tools[0] as (typeof tools)[0]), description }],
    });

    const { body } = one.server.requests[0] as ModelServerRequest;
    expect(body).toMatchObject({ max_completion_tokens: 9, prompt_cache_key: expect.stringMatching(/^[0-9a-f]{32}$/) });
    const { function: sent } =
      (body.tools as { function: { description: string; parameters: { description: string } } }[])[0] ?? {};
    expect(sent?.description.length).toBeLessThanOrEqual(1024);
    expect(`${sent?.description.slice(0, -2)} ${sent?.parameters.description}`).toBe(description);
  });

  test("OpenRouter gets breakpoints for Anthropic's models, and the session", async () => {
    const server = createServer((request, response) => {
      let body = "";
      request
        .on("data", (chunk) => (body += chunk))
        .on("end", () => {
          bodies.push(JSON.parse(body));
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.end(
            ': OPENROUTER PROCESSING\n\ndata: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\n',
          );
        });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const bodies: Record<string, unknown>[] = [];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
    const model = createModel({ url, model: "anthropic/claude-sonnet-4.5", provider: "openrouter" });

    const answer = await model.answer({ ...question, cacheKey: "k" });
    server.close();

    expect(answer).toMatchObject({ text: "Yes.", usage: { isEstimated: true } });
    const part = { type: "text", cache_control: { type: "ephemeral" } };
    expect(bodies[0]).toMatchObject({
      session_id: expect.any(String),
      messages: [{ content: [{ ...part, text: "Be brief." }] }, { content: [part] }],
    });
  });
});

describe("what is not asked", () => {
  test.each([
    ["no URL", { url: "api.openai.com" }, "expected a URL with http"],
    ["a URL with a password", { url: "https://me:hunter22secret@host/" }, "has a user name or password"],
    ["no name", { model: " " }, "without a name"],
    ["more patience than fetch has", { idleMs: 400_000, firstByteMs: 0 }, "firstByteMs 0, idleMs 400000"],
    ["no attempts", { attempts: 0 }, "Cannot try 0 times"],
  ])("a model with %s", (_, options, words) => {
    const made = () => createModel({ url: "http://localhost/", model: "m", ...options });
    expect(made).toThrow(words);
    expect(made).not.toThrow("hunter22secret");
  });

  test("a server that redirects: the key goes nowhere else", async () => {
    const server = createServer((_, response) =>
      response.writeHead(307, { location: "https://elsewhere.example/v1/chat/completions" }).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const model = createModel({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      model: "m",
      apiKey: "sk-secret-0123456789",
    });

    const error = await errorOf(model.answer(question));
    server.close();

    expect(error).toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("redirects to https://elsewhere.example"),
    });
  });

  test("a web page, and a place where nothing is", async () => {
    const server = createServer((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const model = createModel({ url, model: "m", attempts: 1 });

    expect(await errorOf(model.answer(question))).toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("Check the URL"),
    });
    await new Promise((resolve) => server.close(resolve));
    expect(await errorOf(model.answer(question))).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("Cannot reach model"),
    });
  });

  test("a provider that repeats the key does not give it away", async () => {
    const apiKey = "sk-very-secret-0123456789";
    await using one = await start(() => ({ text: "never" }), { apiKey, attempts: 1 });
    one.server.play([]);
    await using echo = await start(() => ({ status: 400, error: { message: `You sent ${apiKey}` } }), {
      needsKey: false,
      apiKey,
    });

    expect((await errorOf(echo.model.answer(question))).message).toContain("You sent [redacted]");
    expect(await errorOf(one.model.answer(question))).toMatchObject({ code: "unauthorized" });
  });
});
