import { expect, test } from "vitest";
import { contextOverflow } from "./context-overflow.ts";

test.each([
  [
    "OpenAI",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens.",
    128_000,
  ],
  ["OpenAI's code", '{"error":{"message":"too long","code":"context_length_exceeded"}}', undefined],
  [
    "OpenAI, of late",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    undefined,
  ],
  [
    "OpenAI, of late",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 290000 tokens.",
    272_000,
  ],
  [
    "OpenRouter",
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens (190000 of text input).",
    131_072,
  ],
  [
    "vLLM",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
    4096,
  ],
  [
    "vLLM, of late",
    "'max_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 800 input tokens",
    8192,
  ],
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum", 200_000],
  [
    "Anthropic",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    200_000,
  ],
  ["Bedrock", "Input is too long for requested model.", undefined],
  ["Gemini", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", 1_048_575],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
  ["Groq", "Please reduce the length of the messages or completion.", undefined],
  [
    "Groq",
    "Request too large for model `x` in organization `y` on tokens per minute (TPM): Limit 6000, Requested 7120, please reduce",
    6000,
  ],
  [
    "Mistral",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    32_768,
  ],
  ["llama.cpp", "the request exceeds the available context size, try increasing it", undefined],
  [
    "llama.cpp, of late",
    "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it",
    8192,
  ],
  ["LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length.", undefined],
  ["MiniMax", "invalid params, context window exceeds limit", undefined],
  ["Kimi", "Your request exceeded model token limit: 262144 (requested: 300000)", 262_144],
  ["Copilot", "prompt token count of 140000 exceeds the limit of 128000", 128_000],
  [
    "Together",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
    8193,
  ],
  ["Cohere", "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs", undefined],
])("%s says that a request was too long: %s", (_, text, limitTokens) => {
  expect(contextOverflow(text)).toEqual(limitTokens === undefined ? {} : { limitTokens });
});

test.each([
  "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
  "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
  "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576",
  "Invalid 'tools': array too long. Expected an array with maximum length 128",
])("an error about something else is none: %s", (text) => {
  expect(contextOverflow(text)).toBeUndefined();
});
