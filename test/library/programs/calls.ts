import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import {
  allToolNames,
  type Bus,
  type CallOptions,
  createMemoryBus,
  createToolCaller,
  defineTool,
  type ProgressUpdate,
  serveTools,
  silentLogger,
  type Tool,
  ToolError,
  ToolErrorCode,
} from "rockbot";
import { toolDefinition } from "rockbot/json-schema";
import { ConfigError, openPolicy } from "rockbot/policy";
import { RedisClientMissingError, SharedRecords, sharedRuns } from "rockbot/redis";

const steps = toolDefinition<{ readonly count: number }, { readonly done: number }>({
  name: "take_steps",
  description: "Take steps, and say so.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["count"],
    properties: { count: { type: "integer", maximum: 1_000 } },
  },
  outputSchema: { type: "object", properties: { done: { type: "integer" } } },
});

let cancelled = 0;
const tool: Tool = defineTool(steps, async ({ count }, { signal, progress }) => {
  for (let step = 1; step <= count; step++) {
    progress({ progress: step, total: count });
    await setTimeout(150, undefined, { signal }).catch((error: unknown) => {
      cancelled++;
      throw error;
    });
  }
  return { content: `${count} steps`, structured: { done: count } };
});

async function main(bus: Bus): Promise<void> {
  await using policy = await openPolicy(undefined, { log: silentLogger });
  await using _service = await serveTools(bus, { tools: [tool] }, { service: "walker", policy });
  await using agent = await createToolCaller(bus, { agent: "program", policy });
  const { missing } = await agent.discovered();
  assert.deepEqual(missing, []);
  assert.ok(agent.tools.getTools().some(({ name }) => name === "take_steps"));

  const heard: ProgressUpdate[] = [];
  const options: CallOptions = { timeoutMs: 20_000, onProgress: (update) => heard.push(update) };
  const { content, structured } = await agent.call("take_steps", { count: 3 }, options);
  assert.deepEqual([content, structured], ["3 steps", { done: 3 }]);
  assert.ok(heard.length > 0 && heard.every(({ total }) => total === 3));

  const cancel = new AbortController();
  const call = agent.call("take_steps", { count: 1_000 }, { signal: cancel.signal, onProgress: () => cancel.abort() });
  await assert.rejects(call, (error) => error instanceof ToolError && error.code === ToolErrorCode.Cancelled);
  await assert.rejects(agent.call("take_steps", { cuont: 1 }), /did you mean "count"/);
  await assert.rejects(agent.call("web_browse", { url: "https://example.com/" }), { code: "unavailable" });
}

{
  await using bus = createMemoryBus();
  await main(bus);
}
assert.equal(cancelled, 1);
assert.ok(allToolNames.includes("web_browse"));
await assert.rejects(openPolicy("no-such-file.yaml"), ConfigError);
{
  await using shared = new SharedRecords({ redisUrl: "redis://127.0.0.1:1", log: silentLogger });
  for (const [name, opening] of Object.entries({ claims: shared.claims(), runs: sharedRuns(shared) }))
    await assert.rejects(
      opening,
      (error) =>
        error instanceof RedisClientMissingError &&
        new RegExp(`^Cannot open the ${name} in Redis: .* npm install ioredis@6$`).test(error.message),
    );
}
