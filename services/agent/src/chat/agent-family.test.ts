import type { AgentDefinition } from "@rockbot/agent";
import { type FamilyTurn, tools } from "@rockbot/contracts";
import type { ModelServerRequest, ModelStep } from "@rockbot/testing";
import { defineTool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startTestAgent } from "../test-agent-service.ts";

const WAIT = { timeout: 30_000, interval: 20 };
const clerk: AgentDefinition = {
  name: "clerk",
  description: "",
  playbook: "",
  tools: ["*"],
  maker: "gateway",
  isUntrusted: false,
  hash: "clerk",
};
const isClerk = ({ messages }: ModelServerRequest): boolean => /^You are clerk,/.test(messages[0]?.text ?? "");
const hasCalled = ({ messages }: ModelServerRequest): boolean => messages.some(({ role }) => role === "tool");

/** The plain agent calls the clerk, who calls the tool. */
const script = (request: ModelServerRequest): ModelStep => {
  if (hasCalled(request)) return { text: `done: ${request.messages.at(-1)?.text}` };
  return {
    toolCalls: [
      isClerk(request)
        ? { name: "shop_hours", arguments: { html: "x" } }
        : { name: "agent__clerk", arguments: { prompt: "Go." } },
    ],
  };
};

test("a caller's sessions are listed without runs of tasks; another caller has none, and a robot's session sees itself alone", async () => {
  await using agent = await startTestAgent(() => ({ text: "Yes." }));
  const say = (session_id: string, origin = "user") =>
    agent.caller.call("agent__chat", { message: `Hi\n${session_id}${origin}`, session_id, origin });
  for (const id of ["one", "two"]) await say(id);
  await say("one", "schedule");
  const list = async (options: object) => (await agent.caller.call("agent__family", {}, options)).content;
  const grant = JSON.stringify([{ kind: "agent", name: "cook", maker: "bob", tools: ["*"] }]);

  expect(await list({})).toMatch(/^- two, 20\S+Z: Hi twouser\n- one, 20\S+Z: Hi oneuser$/);
  expect(await list({ onBehalfOf: "bob" })).toBe("There are no sessions.");
  expect(await list({ grant, sessionId: "session/one" })).toMatch(/^- one, .*one/);
});

async function startScene(shop: (signal: AbortSignal) => Promise<string>) {
  const tool = defineTool({ ...tools.htmlToText, name: "shop_hours" }, async (_input, { signal }) => shop(signal));
  const agent = await startTestAgent(script, {
    tools: [tool],
    definitions: { visibleTo: async () => [clerk], ofSession: async () => undefined },
  });
  const family = async (session_id: string) =>
    ((await agent.caller.call("agent__family", { session_id })).structured as { turns: FamilyTurn[] }).turns;
  return { ...agent, family };
}

test("what a session has led to is seen while it runs, and with all its tokens and calls once it has ended", async () => {
  const shop = Promise.withResolvers<string>();
  await using scene = await startScene(() => shop.promise);
  const asked = scene.caller.call("agent__chat", { message: "Go.", session_id: "trip" }, { timeoutMs: 60_000 });
  await expect
    .poll(() => scene.family("trip"), WAIT)
    .toMatchObject([
      { session_id: "trip", depth: 0, state: "running", calls: 0 },
      { agent: "clerk", depth: 1, state: "running" },
    ]);
  shop.resolve("nine to five");
  const { structured } = await asked;
  await expect.poll(() => scene.family("trip"), WAIT).toMatchObject([{ state: "ended" }, { state: "ended" }]);
  const [root, child] = (await scene.family("trip")) as [FamilyTurn, FamilyTurn];
  expect(root).toMatchObject({
    finish: "stop",
    calls: 1,
    failed_calls: 0,
    tools: [{ tool: "agent__clerk", count: 1 }],
  });
  expect(child).toMatchObject({
    parent_turn_id: root.turn_id,
    session_id: `sub-${child.turn_id}`,
    tools: [{ tool: "shop_hours", count: 1, failed: 0 }],
  });
  expect(root.usage).toEqual((structured as { usage: object }).usage);
  expect(child.usage.input_tokens).toBeLessThan(root.usage.input_tokens);
  expect(await scene.family("another")).toEqual([]);
});

test("a session is cancelled with all that it has led to, or an agent that it has called alone", async () => {
  await using scene = await startScene(
    (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
  );
  const ask = (session_id: string) =>
    scene.caller.call("agent__chat", { message: "Go.", session_id }, { timeoutMs: 60_000 });
  const cancel = (input: object) => scene.caller.call("agent__cancel", input);
  const [whole, part] = [ask("whole"), ask("part")];
  const running = async (session: string) => (await scene.family(session)).filter(({ state }) => state === "running");
  await expect.poll(() => running("whole"), WAIT).toHaveLength(2);
  await expect.poll(() => running("part"), WAIT).toHaveLength(2);
  const { structured } = await cancel({ session_id: "whole" });
  expect(structured).toEqual({ cancelled: [(await scene.family("whole"))[0]?.turn_id] });
  expect(await whole).toMatchObject({
    isError: true,
    structured: { finish: "failed", reason: "The turn was cancelled." },
  });
  const [, child] = (await scene.family("part")) as [FamilyTurn, FamilyTurn];
  await cancel({ session_id: "part", turn_id: child.turn_id });
  expect(await part).toMatchObject({ content: expect.stringContaining("done: "), structured: { finish: "stop" } });
  await expect.poll(() => running("part"), WAIT).toEqual([]);
  await expect(cancel({ session_id: "part" })).rejects.toThrow("Nothing was cancelled: nothing of this session runs.");
  await expect(cancel({ session_id: "part", turn_id: "x" })).rejects.toThrow(
    'Nothing was cancelled: the turn "x" does not run, and nothing of this session runs.',
  );
});

test("a message goes to the agent that it names, if its caller may call that", async () => {
  await using scene = await startScene(async () => "nine to five");
  expect(await scene.caller.call("agent__chat", { message: "Go.", agent: "clerk" })).toMatchObject({
    content: "done: nine to five",
  });
  await expect(scene.caller.call("agent__chat", { message: "Go.", agent: "clerc" })).rejects.toThrow(
    'Cannot ask the agent "clerc": you see none of this name. Did you mean "clerk"?',
  );
});
