import { createMemoryBus } from "@rockbot/bus";
import type { ChatMessage } from "@rockbot/contracts";
import { createWorkingMemory, type WorkingMemory } from "@rockbot/memory";
import { serveTools, type Tool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { called, said, scriptedModel, type TestStep } from "../test-model.ts";
import { testRequest, testTool } from "../test-turn.ts";
import type { TurnRequest } from "../words/turn.ts";
import { createAgent } from "./create-agent.ts";

const clientTools = ["paint", "frame"].map((name) => ({
  name,
  description: "Of the client.",
  parameters: { type: "object" },
}));

/** An agent with tools of its own, and a client whose messages go with each turn. */
async function startClient(steps: readonly TestStep[], tools: readonly Tool[], memory?: WorkingMemory) {
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  started.use(await serveTools(bus, { tools: [...tools] }, { service: "tests" }));
  const { model, requests } = scriptedModel(steps);
  const agent = started.use(await createAgent({ bus, model, memory }).start());
  const messages: ChatMessage[] = [{ role: "user", content: "Paint it." }];
  const ask = async (more: Partial<TurnRequest> = {}) => {
    const { message: _, ...request } = testRequest("");
    const result = await agent.runTurn({ ...request, messages: [...messages], clientTools, ...more });
    const toolCalls = result.toolCalls?.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
    messages.push({
      role: "assistant",
      content: result.text,
      ...(toolCalls === undefined ? {} : { tool_calls: toolCalls }),
    });
    return result;
  };
  const all = started.move();
  return {
    ask,
    requests,
    /** Gives the result of the client's newest calls. */
    give: (content: string) => {
      for (const { id } of messages.at(-1)?.tool_calls ?? [])
        messages.push({ role: "tool", content, tool_call_id: id });
    },
    /** The messages of the newest question, without the rules. */
    asked: () => requests.at(-1)?.messages.slice(1) ?? [],
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A tool with effects that counts its runs. */
function countingTool(runs: string[], trust?: "untrusted"): Tool {
  return testTool("order", async ({ what }) => {
    runs.push(String(what));
    return {
      content: `ordered ${String(what)}`,
      ...(trust === undefined ? {} : { trust: { level: trust, origin: "shop" } }),
    };
  });
}

test("an answer that calls tools of both has the agent's run and the client's returned, and the next request of the client has both results", async () => {
  const runs: string[] = [];
  const script = [
    called(["order", { what: "paper" }]),
    called(["order", { what: "ink" }], "paint", ["order", { what: "pens" }]),
    said("Done."),
  ];
  await using client = await startClient(script, [countingTool(runs)]);

  const first = await client.ask();
  expect(first).toMatchObject({
    finish: "tool_calls",
    toolCalls: [{ id: expect.stringMatching(/^call_[0-9a-f]{32}$/), name: "paint" }],
  });
  expect(first.reason).toBeUndefined();
  expect(runs.toSorted()).toEqual(["ink", "paper", "pens"]);
  client.give("painted");
  expect(await client.ask()).toMatchObject({ finish: "stop", text: "Done." });

  const paint = first.toolCalls?.[0]?.id;
  expect(client.asked().map(({ role, content }) => `${role} ${content}`)).toEqual([
    "user Paint it.",
    "assistant ",
    "tool ordered paper",
    "assistant ",
    "tool ordered ink",
    "tool ordered pens",
    "tool painted",
  ]);
  expect(client.asked()[3]).toMatchObject({
    toolCalls: [{ name: "order" }, { id: paint, name: "paint" }, { name: "order" }],
  });
  expect(client.asked().at(-1)).toMatchObject({ toolCallId: paint, toolName: "paint" });
  expect(runs).toHaveLength(3);
});

test("what the agent did before a client's call marks the client's next request as it marked the first, and stays fenced", async () => {
  await using client = await startClient(
    [called(["order", { what: "ink" }]), called("paint"), said("Done.")],
    [countingTool([], "untrusted")],
  );

  expect((await client.ask()).hasReadUntrusted).toBe(true);
  client.give("painted");
  expect((await client.ask()).hasReadUntrusted).toBe(true);

  expect(client.asked()[2]?.content).toMatch(/^<untrusted-(\w+) origin="shop">\nordered ink\n<\/untrusted-\1>$/);
});

test("a large result that the agent read before a client's call can be read on in the client's next request", async () => {
  const large = testTool("large", async () => `${"a line of it\n".repeat(9_000)}the end`);
  const key = ({ messages }: { readonly messages: readonly { readonly content: string }[] }): string =>
    /session\/\S+chunk0/.exec(messages.map(({ content }) => content).join("\n"))?.[0] ?? "";
  const script: TestStep[] = [
    called("large"),
    called("paint"),
    (request) => called(["get_from_working_memory", { key: key(request) }]),
    said("Done."),
  ];
  await using client = await startClient(script, [large]);

  await client.ask();
  client.give("painted");
  await client.ask();

  expect(client.asked().at(-1)?.content).toContain("a line of it");
});

test("another caller that knows the id of a client's call gets nothing of what the agent did before it", async () => {
  await using client = await startClient(
    [called(["order", { what: "ink" }], "paint"), said("Done.")],
    [countingTool([])],
  );

  await client.ask();
  client.give("painted");
  await client.ask({ caller: "mallory" });

  expect(JSON.stringify(client.asked())).not.toContain("ink");
});

test("where the agent cannot keep what it did before a client's call, its answer says so", async () => {
  await using memory = createWorkingMemory({ maxBytes: 300 });
  await using client = await startClient(
    [called(["order", { what: "ink" }], "paint"), said("Done.")],
    [countingTool([])],
    memory,
  );

  expect(await client.ask()).toMatchObject({
    finish: "tool_calls",
    toolCalls: [{ name: "paint" }],
    reason: expect.stringContaining("may call them again"),
  });
});
