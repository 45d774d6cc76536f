import { createAgent, createMemoryTurnStore, type TurnResult } from "@rockbot/agent";
import { connectRedisTurnStore } from "@rockbot/agent/redis";
import { called, Mortal, said, scriptedModel, testRequest, testTool } from "@rockbot/agent/test-kit";
import { createMemoryBus } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import { createWorkingMemory } from "@rockbot/memory";
import { sharedRedisUrl } from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { wisp } from "./test-wisps.ts";
import { wisps } from "./wisps.ts";

const redis = await sharedRedisUrl();

/**
 * Two pipelines: a look that changes with each call, an effect for each of what it saw, a question, and an effect of
 * its answer.
 */
const definitions = [
  wisp(
    [
      { id: "look", tool: "look" },
      {
        id: "each",
        tool: "effect",
        for_each: { items: "{{/steps/look/data/names}}", max: 2 },
        arguments: { name: "{{/item}}" },
      },
      { id: "ask", ask: "What next after {{/steps/each/text}}?" },
      { id: "last", tool: "effect", arguments: { name: "{{/steps/ask/text}}" } },
    ],
    { result: "{{/steps/look/data/names}}" },
  ),
  wisp([{ id: "one", tool: "effect", arguments: { name: "beside" } }]),
];

/** The story once, in a process that dies at a step, then in another until it ends. */
async function runStory(diesAt: number) {
  await using bus = createMemoryBus();
  const runs: string[] = [];
  let looks = 0;
  const look = testTool("look", async () => ({ content: null, structured: { names: [`a${looks}`, `b${looks++}`] } }), {
    readOnly: true,
  });
  const effect = testTool("effect", async ({ name }, { toolCallId }) => {
    runs.push(`${name} ${toolCallId}`);
    return `did ${name}`;
  });
  await using _service = await serveTools(bus, { tools: [look, effect] }, { service: "tests" });
  await using store =
    diesAt % 4 === 1 ? await connectRedisTurnStore(redis, { prefix: `test-${newId()}` }) : createMemoryTurnStore();
  await using memory = createWorkingMemory();
  const { model, requests } = scriptedModel([
    ({ tools, messages }) => {
      if (tools === undefined) return said("next");
      return messages.some(({ role }) => role === "tool") ? said("done") : called(["spawn_wisps", { definitions }]);
    },
  ]);
  const request = testRequest("Go.");
  const options = { bus, model, memory, limits: { leaseMs: 100 } };

  const mortal = new Mortal(diesAt);
  const firstCaller = await createToolCaller(bus, { agent: "agent", results: "copy" });
  const first = await createAgent({ ...options, store: mortal.store(store), caller: mortal.caller(firstCaller) })
    .use(wisps({ memory }))
    .start();
  const ended = first.runTurn(request).then(
    (result): TurnResult | undefined => result,
    () => undefined,
  );
  await Promise.race([ended, mortal.died.promise]);
  await using caller = await createToolCaller(bus, { agent: "agent", results: "copy" });
  await using second = await createAgent({ ...options, store, caller })
    .use(wisps({ memory }))
    .start();
  const result = await second.runTurn({ ...request, deadline: performance.now() + 60_000 });
  void first[Symbol.asyncDispose](); // a dead process ends no turn, and is not waited for
  await firstCaller[Symbol.asyncDispose]();
  const read = requests.at(-1)?.messages.find(({ role }) => role === "tool")?.content ?? "";
  return {
    runs,
    result,
    steps: mortal.steps,
    questions: requests.filter(({ tools }) => tools === undefined).length,
    read,
  };
}

test("a pipeline whose process dies at any step goes on in the next: no call runs twice, and what was seen once stays so", {
  timeout: 300_000,
}, async () => {
  const { steps, result: whole } = await runStory(Number.POSITIVE_INFINITY);
  expect(whole).toMatchObject({ text: "done", usage: { inputTokens: 30, outputTokens: 15 } });
  expect(steps.length).toBeGreaterThan(25);
  for (let diesAt = 1; diesAt <= steps.length; diesAt++) {
    const at = `dies ${steps[diesAt - 1]} (step ${diesAt})`;
    const { runs, result, read } = await runStory(diesAt);
    const names = runs.map((run) => run.split(" ")[0] ?? "").sort();
    expect(names, at).toEqual([expect.stringMatching(/^a\d$/), expect.stringMatching(/^b\d$/), "beside", "next"]);
    expect(read, at).toContain(`Output: ${JSON.stringify(names.slice(0, 2))}`);
    expect(result.text, at).toBe("done");
  }
});
