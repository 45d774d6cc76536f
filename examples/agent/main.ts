import assert from "node:assert/strict";
import { createMemoryBus } from "rockbot";
import {
  createAgent,
  localScriptRunner,
  mcpToolProxy,
  scheduling,
  serviceSearch,
  toolService,
  webTools,
  wisps,
} from "rockbot/agent";
import { createModel } from "rockbot/model";
import { schedulerHere, scriptsHere, subagents, webToolsHere } from "rockbot/services";
import { startShop } from "../shop.ts";

const { MODEL_URL = "http://localhost:11434/v1", MODEL = "qwen3", MODEL_API_KEY } = process.env;
const model = createModel({
  url: MODEL_URL,
  model: MODEL,
  ...(MODEL_API_KEY === undefined ? {} : { apiKey: MODEL_API_KEY }),
});

await using bus = createMemoryBus();
await using shop = await startShop(bus);
await using agent = await createAgent({ bus, model, name: "shop-keeper" })
  .use(mcpToolProxy())
  .use(webTools(webToolsHere()))
  .use(scheduling(schedulerHere()))
  .use(subagents())
  .use(wisps())
  .use(localScriptRunner(scriptsHere(process.env["PATH"])))
  .use(toolService("a2a")) // which runs elsewhere
  .use(serviceSearch())
  .start();

const { text, finish, usage } = await agent.runTurn({
  caller: "shop-keeper",
  sessionId: "monday",
  turnId: crypto.randomUUID(),
  message: "How much tea does the shop have?",
  signal: new AbortController().signal,
  deadline: performance.now() + 120_000,
  onEvent: ({ kind, toolName }) => console.log(kind, toolName ?? ""),
});
console.log(text, usage);
assert.equal(finish, "stop");
assert.equal(shop.calls, 1);
assert.match(text, /4\D?217/);
