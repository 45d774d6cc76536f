import { createMemoryBus } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import { sharedRedisUrl } from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createAgent } from "../agent/create-agent.ts";
import { createMemoryTurnStore } from "../store/memory/memory-turn-store.ts";
import { connectRedisTurnStore } from "../store/redis/redis-turn-store.ts";
import { definitionsOf, modelOfAgents, testDefinition } from "../test-definitions.ts";
import { called } from "../test-model.ts";
import { Mortal } from "../test-mortal.ts";
import { testRequest, testTool } from "../test-turn.ts";
import type { FamilySession } from "../words/family-session.ts";
import type { TurnResult } from "../words/turn.ts";

const redis = await sharedRedisUrl();
const report = (content: string) => called(["agent__final_report", { status: "success", format: "text", content }]);
const all = ["left", "right"].map((name) => testDefinition(name));
const as = testDefinition("root", { destinations: ["left"] });

/** All agents, as a family that was never cut off has them. */
const tree = [["root", "ended", ["left", "ended"], ["right", "ended"]]];
const treeOf = ({ agent, state, children }: FamilySession): unknown[] => [
  agent,
  state,
  ...children.map(treeOf).toSorted(),
];

/**
 * A root that calls two agents at once, one of them in a batch, hands over, and reports: once, in a process that dies
 * at a step, then in another until it ends.
 */
async function runStory(diesAt: number) {
  await using bus = createMemoryBus();
  const runs: string[] = [];
  const effect = testTool("effect", async ({ name }, { toolCallId }) => {
    runs.push(`${name} ${toolCallId}`);
    return `did ${name}`;
  });
  await using _service = await serveTools(bus, { tools: [effect] }, { service: "tests" });
  // Every fourth story over Redis, so that both stores have each kind of step.
  await using store =
    diesAt % 4 === 1 ? await connectRedisTurnStore(redis, { prefix: `test-${newId()}` }) : createMemoryTurnStore();
  const { model } = modelOfAgents({
    root: [
      called(
        ["agent__left", { prompt: "Left." }],
        ["agent__batch", { calls: [{ tool: "agent__right", arguments: { prompt: "Right." } }] }],
      ),
      called(["router__handoff-to", { agent: "left" }]),
    ],
    left: [called(["effect", { name: "left" }]), report("left"), report("all")],
    right: [called(["effect", { name: "right" }]), report("right")],
  });
  const request = testRequest("Go.");
  const options = { bus, model, definitions: definitionsOf(all, as), limits: { leaseMs: 100 } };

  const mortal = new Mortal(diesAt);
  const firstCaller = await createToolCaller(bus, { agent: "agent", results: "copy" });
  const first = await createAgent({
    ...options,
    store: mortal.store(store),
    caller: mortal.caller(firstCaller),
  }).start();
  const ended = first.runTurn(request).then(
    (result): TurnResult | undefined => result,
    () => undefined,
  );
  const early = await Promise.race([ended, mortal.died.promise.then(() => undefined)]);
  await using caller = await createToolCaller(bus, { agent: "agent", results: "copy" });
  await using second = await createAgent({ ...options, store, caller }).start();
  const result = await second.runTurn({ ...request, deadline: performance.now() + 60_000 });
  const family = () => second.family(request.caller, request.sessionId);
  // The second process has a working memory of its own, and so a tree unless the first one has ended the turn.
  if ((await family()).length > 0)
    await expect
      .poll(async () => (await family()).map(treeOf), { timeout: 10_000, message: `dies at step ${diesAt}` })
      .toEqual(tree);
  void first[Symbol.asyncDispose](); // a dead process ends no turn, and is not waited for
  await firstCaller[Symbol.asyncDispose]();
  return { runs, result, early, steps: mortal.steps };
}

test("a family whose process dies at any step goes on in the next: each call runs once, and the tokens of all are counted", {
  timeout: 300_000,
}, async () => {
  const { steps, result: whole } = await runStory(Number.POSITIVE_INFINITY);
  expect(whole).toMatchObject({ text: "all", usage: { inputTokens: 70, outputTokens: 35 } });
  for (let diesAt = 1; diesAt <= steps.length; diesAt++) {
    const at = `dies ${steps[diesAt - 1]} (step ${diesAt})`;
    const { runs, result, early } = await runStory(diesAt);
    expect(runs.map((run) => run.split(" ")[0]).sort(), at).toEqual(["left", "right"]);
    expect(result, at).toEqual(whole);
    if (early !== undefined) expect(early, at).toEqual(result);
  }
});
