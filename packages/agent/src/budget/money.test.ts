import { createMemoryBus } from "@rockbot/bus";
import type { AgentEvent } from "@rockbot/contracts";
import type { Model, ModelPrice } from "@rockbot/llm";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { createMemoryRateStore } from "@rockbot/records/rates";
import { expect, test } from "vitest";
import { type AgentOptions, createAgent } from "../agent/create-agent.ts";
import { definitionsOf, modelOfAgents, testDefinition } from "../test-definitions.ts";
import { called, said, type TestStep } from "../test-model.ts";
import { testRequest } from "../test-turn.ts";
import { spendingBy } from "./spending.ts";

/** An answer of the test's model has 10 tokens of input and 5 of output: it costs 20. */
const PRICE: ModelPrice = { input: 1_000_000, output: 2_000_000 };

interface Scene extends Partial<AgentOptions> {
  readonly scripts: Readonly<Record<string, readonly TestStep[]>>;
  readonly price?: ModelPrice | undefined;
  readonly clerkMaxCost?: number;
}

async function startAgent({ scripts, price, clerkMaxCost, ...options }: Scene) {
  const bus = createMemoryBus();
  const { model, requests } = modelOfAgents(scripts);
  const priced: Model = { ...model, behavior: { ...model.behavior, price } };
  const definitions = definitionsOf([
    testDefinition("clerk", clerkMaxCost === undefined ? {} : { budgets: { maxCost: clerkMaxCost } }),
  ]);
  const agent = await createAgent({ bus, model: priced, definitions, ...options }).start();
  const events: AgentEvent[] = [];
  const ask = (message = "Go.") => agent.runTurn({ ...testRequest(message), onEvent: (event) => events.push(event) });
  return {
    ask,
    requests,
    events,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await bus[Symbol.asyncDispose]();
    },
  };
}

const call = (...names: readonly string[]) => called(...names.map((name) => [name, { prompt: "Do it." }] as const));
const report = called(["agent__final_report", { status: "success", format: "text", content: "Done." }]);

test("a turn has the cost of its answers and of the agents that it has called", async () => {
  await using scene = await startAgent({
    price: PRICE,
    scripts: { agent: [call("agent__clerk"), said("ok")], clerk: [report] },
  });
  const { usage } = await scene.ask();
  expect(usage).toEqual({ inputTokens: 30, outputTokens: 15, cost: 60 });
  expect(scene.events.at(-1)).toMatchObject({ kind: "turn_finished", usage: { cost: 60 } });
});

test("a turn of a model without a price says that its cost is unknown, and is not begun where cost is bounded", async () => {
  await using free = await startAgent({ scripts: { agent: [said("ok")] } });
  expect((await free.ask()).usage).toEqual({ inputTokens: 10, outputTokens: 5, unpricedTokens: 15 });
  await using bounded = await startAgent({ scripts: { agent: [said("ok")] }, maxCost: 100 });
  await expect(bounded.ask()).rejects.toThrow(
    /^The message was not taken: its cost is bounded, and the price of the model "[^"]+" is unknown\. Give the model a price/,
  );
  expect(bounded.requests).toEqual([]);
});

test("a turn that has cost what it may calls nothing more, and says why", async () => {
  const again = (): TestStep => called(["get_from_working_memory", { key: "x" }]);
  await using scene = await startAgent({
    price: PRICE,
    maxCost: 30,
    scripts: { agent: [again(), again(), again(), said("Enough.")] },
  });
  const result = await scene.ask();
  expect(result).toMatchObject({ finish: "limit", reason: "this turn has cost 40, and may cost 30" });
  expect(scene.requests).toHaveLength(3); // the last one without tools
});

test("an agent ends by its own bound, and one that its family has no money for is not called", async () => {
  const again = called(["get_from_working_memory", { key: "x" }]);
  await using own = await startAgent({
    price: PRICE,
    clerkMaxCost: 15,
    scripts: { agent: [call("agent__clerk"), said("ok")], clerk: [again, said("So far.")] },
  });
  await own.ask();
  const told = own.requests
    .at(-1)
    ?.messages.map(({ content }) => content)
    .join("\n");
  expect(told).toContain("this turn has cost 20, and may cost 15");

  const twice = [call("agent__clerk"), call("agent__clerk"), said("ok")];
  await using family = await startAgent({ price: PRICE, maxCost: 45, scripts: { agent: twice, clerk: [report] } });
  const result = await family.ask();
  expect(result.finish).toBe("limit");
  expect(result.usage.cost).toBe(80); // two answers, a clerk, and the last words
});

test("a caller that has spent what the policy gives it for a day is refused in words, and no other caller", async () => {
  const policy = holdPolicy(
    createPolicy(await readPolicy("everyone: { allow: ['*'], limits: { costPerDay: 30 } }", "test")),
  );
  await using rates = createMemoryRateStore();
  await using scene = await startAgent({
    price: PRICE,
    policy,
    spending: spendingBy(policy, rates),
    scripts: { agent: [said("ok")] },
  });
  await scene.ask();
  await scene.ask();
  await expect(scene.ask()).rejects.toThrow(
    /^The message was not taken: "agent" has spent the 30 that the policy gives it for a day; it may go on in \d+ min\.$/,
  );
});
