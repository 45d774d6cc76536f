import assert from "node:assert/strict";
import { createMemoryBus } from "rockbot";
import { type AgentDefinition, childSessionOf, createAgent } from "rockbot/agent";
import { createModel } from "rockbot/model";
import { startShop } from "../shop.ts";

const { MODEL_URL = "http://localhost:11434/v1", MODEL = "qwen3", MODEL_API_KEY } = process.env;
const model = createModel({
  url: MODEL_URL,
  model: MODEL,
  ...(MODEL_API_KEY === undefined ? {} : { apiKey: MODEL_API_KEY }),
});

const clerk: AgentDefinition = {
  name: "clerk",
  description: "Looks up what the shop has.",
  playbook: "Look it up with your tool. Report the number and the item in one sentence.",
  tools: ["stock_of"],
  budgets: { maxTokens: 50_000, timeoutMs: 60_000 },
  maker: "manager",
  isUntrusted: false,
  hash: "1",
};

await using bus = createMemoryBus();
await using shop = await startShop(bus);
await using agent = await createAgent({
  bus,
  model,
  name: "manager",
  instructions: "Have your clerk look things up. Do not do so yourself.",
  definitions: { visibleTo: async () => [clerk], ofSession: async () => undefined },
}).start();

const children: string[] = [];
const { text, usage } = await agent.runTurn({
  caller: "manager",
  sessionId: "monday",
  turnId: crypto.randomUUID(),
  message: "How much tea does the shop have?",
  signal: new AbortController().signal,
  deadline: performance.now() + 120_000,
  onEvent({ kind, toolName, toolCallId, message }) {
    if (kind === "tool_started" && toolName === "agent__clerk") children.push(childSessionOf(toolCallId ?? ""));
    console.log(kind, toolName ?? "", message ?? "");
  },
});
const [task, report] = await agent.history("manager", children[0] ?? "");
console.log("task:", task?.content);
console.log("report:", report?.content);
console.log("answer:", text, usage);
assert.equal(shop.calls, 1);
assert.match(text, /4\D?217/);
