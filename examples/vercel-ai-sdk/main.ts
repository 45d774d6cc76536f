import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount } from "ai";
import { createMemoryBus } from "rockbot";
import { busTools } from "rockbot/agent";
import { startShop } from "../shop.ts";

const { MODEL_URL = "http://localhost:11434/v1", MODEL = "qwen3", MODEL_API_KEY: apiKey } = process.env;

await using bus = createMemoryBus();
await using shop = await startShop(bus);
await using tools = await busTools(bus);

const provider = createOpenAICompatible({
  name: "own",
  baseURL: MODEL_URL,
  ...(apiKey === undefined ? {} : { apiKey }),
});
const { text } = await generateText({
  model: provider(MODEL),
  instructions: tools.instructions,
  prompt: "How much tea does the shop have?",
  tools: tools.aiSdk(),
  stopWhen: isStepCount(8),
});
console.log(text);
assert.equal(shop.calls, 1);
assert.match(text, /4\D?217/);
