import assert from "node:assert/strict";
import { createMemoryBus, createToolCaller, serveTools } from "rockbot";
import { wordCount } from "./word-count.ts";

await using bus = createMemoryBus();
await using _words = await serveTools(bus, { tools: [wordCount] }, { service: "words" });
await using agent = await createToolCaller(bus, { agent: "my-agent" });
await agent.discovered();

const { content } = await agent.call("word_count", { text: "three short words" });
console.log(content);
assert.equal(content, "3 words");

// RockBot checks the arguments before the tool runs, and says what is wrong in words for a model.
await assert.rejects(agent.call("word_count", { txt: "three short words" }), { code: "invalid_arguments" });
