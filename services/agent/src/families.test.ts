import type { AgentDefinition } from "@rockbot/agent";
import type { ModelServerRequest, ModelStep } from "@rockbot/testing";
import { defineTool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startTestAgent } from "./test-agent-service.ts";

const LEVELS = 8;
const CHILDREN = 5;

const names = Array.from({ length: LEVELS }, (_, level) =>
  Array.from({ length: CHILDREN }, (_child, index) => `level${level + 1}-${index}`),
);
const all = names.flat().map(
  (name): AgentDefinition => ({
    name,
    description: `The agent ${name}.`,
    playbook: "",
    tools: ["*"],
    maker: "gateway",
    isUntrusted: false,
    hash: name,
  }),
);
const hold = (run: () => Promise<string>) =>
  defineTool(
    {
      name: "hold",
      description: "Waits.",
      inputSchema: { type: "object" },
      readOnly: true,
      idempotent: true,
      validateInput: (value): value is object => typeof value === "object",
    },
    run,
  );

/** The first agent of each level calls all of the next; that of the last holds. */
function answer({ messages }: ModelServerRequest): ModelStep {
  const [system, ...rest] = messages;
  const level = Number(
    /^You are level(\d+)-0,/.exec(system?.text ?? "")?.[1] ??
      (/^You are an assistant/.test(system?.text ?? "") ? 0 : Number.NaN),
  );
  const hasCalled = rest.some(({ role }) => role === "tool");
  if (rest.at(-1)?.text === "ping") return { text: "pong" };
  if (hasCalled || Number.isNaN(level)) return { text: "done" };
  if (level === LEVELS) return { toolCalls: [{ name: "hold" }] };
  return { toolCalls: (names[level] ?? []).map((name) => ({ name: `agent__${name}`, arguments: { prompt: "Go." } })) };
}

test("agents eight levels deep with five children each need no place of the service, and others are answered while they wait", {
  timeout: 60_000,
}, async () => {
  const held = Promise.withResolvers<string>();
  let holding = 0;
  const bothHold = Promise.withResolvers<void>();
  const tool = hold(() => {
    if (++holding === 2) bothHold.resolve();
    return held.promise;
  });
  await using agent = await startTestAgent(answer, {
    tools: [tool],
    env: { CONCURRENCY: "2" },
    definitions: { visibleTo: async () => all, ofSession: async () => undefined },
  });
  const families = [1, 2].map(() => agent.caller.call("agent__chat", { message: "Go." }, { timeoutMs: 600_000 }));
  await bothHold.promise;
  const { content } = await agent.caller.call("agent__chat", { message: "ping" }, { timeoutMs: 10_000 });
  expect(content).toBe("pong");
  held.resolve("held");
  for (const { content: said, structured } of await Promise.all(families)) {
    expect(said).toBe("done");
    expect((structured as { usage: { output_tokens: number } }).usage.output_tokens).toBeGreaterThan(LEVELS * CHILDREN); // those of all
  }
  const sessions = agent.model.requests.filter(({ messages }) =>
    messages.every(({ role }) => role === "system" || role === "user"),
  );
  expect(sessions).toHaveLength(2 * (1 + LEVELS * CHILDREN) + 1);
});
