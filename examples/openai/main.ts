import assert from "node:assert/strict";
import OpenAI from "openai";
import { createMemoryBus } from "rockbot";
import { busTools } from "rockbot/agent";
import { startShop } from "../shop.ts";

const { MODEL_URL = "http://localhost:11434/v1", MODEL = "qwen3", MODEL_API_KEY = "none" } = process.env;

await using bus = createMemoryBus();
await using shop = await startShop(bus);
await using tools = await busTools(bus);

const client = new OpenAI({ baseURL: MODEL_URL, apiKey: MODEL_API_KEY });
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: "system", content: tools.instructions },
  { role: "user", content: "How much tea does the shop have?" },
];
let text = "";
for (let step = 0; step < 8 && text === ""; step++) {
  const { choices } = await client.chat.completions.create({ model: MODEL, messages, tools: [...tools.openAi()] });
  const message = choices[0]?.message;
  assert.ok(message);
  messages.push(message, ...(await tools.runOpenAi(message.tool_calls ?? [])));
  text = message.content ?? "";
}
console.log(text);
assert.equal(shop.calls, 1);
assert.match(text, /4\D?217/);
