import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { createMemoryBus, createToolCaller, defineTool, serveTools } from "rockbot";
import { toolDefinition } from "rockbot/json-schema";

/** `count_up`: counts until its call is cancelled. */
const stopped = Promise.withResolvers<string>();
const countUp = defineTool(
  toolDefinition({
    name: "count_up",
    description: "Count up, for ever.",
    inputSchema: { type: "object" },
    readOnly: true,
  }),
  async (_input, { signal, progress }) => {
    signal.addEventListener("abort", () => stopped.resolve("the tool has stopped"));
    for (let count = 1; ; count++) {
      progress({ progress: count, message: `counted to ${count}` });
      await setTimeout(20, undefined, { signal });
    }
  },
);

await using bus = createMemoryBus();
await using _counters = await serveTools(bus, { tools: [countUp] }, { service: "counters" });
await using agent = await createToolCaller(bus, { agent: "my-agent" });
await agent.discovered();

const cancel = new AbortController();
const heard: number[] = [];
const call = agent.call(
  "count_up",
  {},
  {
    signal: cancel.signal,
    onProgress: ({ progress = 0, message }) => {
      console.log(message);
      heard.push(progress);
      if (heard.length === 3) cancel.abort();
    },
  },
);

await assert.rejects(call, { code: "cancelled" });
console.log(await stopped.promise);
assert.deepEqual(
  heard,
  heard.toSorted((a, b) => a - b),
); // progress comes in order, and updates that come too fast are left out
