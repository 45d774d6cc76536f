import { expect, test } from "vitest";
import { baseUrl, kindOf } from "./base-url.ts";

test.each([
  ["https://api.openai.com", "https://api.openai.com/v1"],
  ["https://openrouter.ai", "https://openrouter.ai/api/v1"],
  ["http://localhost:11434/", "http://localhost:11434/v1"],
  ["http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1"],
  ["https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1"],
  [
    "https://generativelanguage.googleapis.com/v1beta/openai/",
    "https://generativelanguage.googleapis.com/v1beta/openai",
  ],
])("the URL %s is that of %s", (text, expected) => {
  expect(baseUrl(text).href).toBe(expected);
});

test.each([
  ["api.openai.com", "openai"],
  ["mine.openai.azure.com", "openai"],
  ["openai.com.example", "other"],
  ["notopenai.com", "other"],
  ["openrouter.ai", "openrouter"],
  ["api.anthropic.com", "anthropic"],
  ["localhost", "other"],
])("the host %s is that of %s", (host, kind) => {
  expect(kindOf(host)).toBe(kind);
});
