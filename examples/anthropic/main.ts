import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { createMemoryBus } from "rockbot";
import { busTools } from "rockbot/agent";
import { startShop } from "../shop.ts";

const {
  MODEL_URL = "https://api.anthropic.com",
  MODEL = "claude-sonnet-4-5",
  MODEL_API_KEY: apiKey = "none",
} = process.env;

await using bus = createMemoryBus();
await using shop = await startShop(bus);
await using tools = await busTools(bus);

const client = new Anthropic({ baseURL: MODEL_URL.replace(/\/v1$/, ""), apiKey });
const messages: Anthropic.MessageParam[] = [{ role: "user", content: "How much tea does the shop have?" }];
let text = "";
for (let step = 0; step < 8 && text === ""; step++) {
  const { content } = await client.messages.create({
    model: MODEL,
    max_tokens: 1_000,
    system: tools.instructions,
    messages,
    tools: [...tools.anthropic()],
  });
  const results = await tools.runAnthropic(content);
  messages.push(
    { role: "assistant", content },
    ...(results.length === 0 ? [] : [{ role: "user" as const, content: results }]),
  );
  if (results.length === 0) text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
console.log(text);
assert.equal(shop.calls, 1);
assert.match(text, /4\D?217/);
