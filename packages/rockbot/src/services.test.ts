import { createMemoryBus } from "@rockbot/bus";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { type AgentPlugin, createAgent, localScriptRunner, type Model, scheduling, webTools } from "./agent.ts";
import { schedulerHere, scriptsHere, subagents, webToolsHere } from "./services.ts";

const CALLS = [
  ["spawn_subagent", { description: "Count to three." }],
  ["schedule_task", { name: "tea", cron: "* * * * * *", description: "Make tea.", run_once: true }],
  ["execute_python_script", { script: "print(6 * 7)" }],
  ["html_to_text", { html: "<p>Hello</p>" }],
].map(([name, args], index) => ({ id: `call-${index}`, name: String(name), arguments: JSON.stringify(args) }));

/** Makes all of the calls for "Go.", and repeats their results; else it repeats its message. */
const model: Model = {
  id: "scripted",
  behavior: {
    chunkingThreshold: 64_000,
    contextTokens: 100_000,
    maxIterations: 12,
    usesTextToolCalls: false,
    nudgesOnProse: false,
  },
  async answer({ messages }) {
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    const asked = messages.findLast(({ role }) => role === "user")?.content ?? "";
    const toolCalls = asked === "Go." && results.length === 0 ? CALLS : [];
    return { text: results.join("\n") || asked, toolCalls, finish: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

test("an agent of a program has the services of RockBot in its own process, from its first turn on", async () => {
  await using folder = temporaryFolder();
  const heard: string[] = [];
  const byWords = (a: string, b: string): number => Number(a.includes("task runs")) - Number(b.includes("task runs"));
  const hear = async (...answer: readonly string[]) => void heard.push(answer.join(" "));
  await using bus = createMemoryBus();
  await using agent = await createAgent({ bus, model, name: "keeper" })
    .use(webTools(webToolsHere()))
    .use(
      scheduling(schedulerHere({ schedulesFile: `${folder.path}/schedules.json`, shortestIntervalSeconds: 1 }, hear)),
    )
    .use(subagents(hear))
    .use(localScriptRunner(scriptsHere(process.env["PATH"])))
    .start();
  const turn = {
    caller: "keeper",
    sessionId: "monday",
    turnId: "1",
    signal: new AbortController().signal,
    deadline: performance.now() + 120_000,
  };
  const { text } = await agent.runTurn({ ...turn, message: "Go." });
  expect(text).toMatch(/^Helper [0-9a-f]{12} has started[\s\S]*^Scheduled the task "tea"[\s\S]*^42$[\s\S]*^Hello$/m);
  await expect
    .poll(() => heard.toSorted(byWords).join("\n"), { timeout: 30_000 })
    .toMatch(/helper .* has ended[\s\S]*task runs once: "tea"/);
}, 180_000);

test("of an agent that cannot start nothing remains, and what waits for it hears why", async () => {
  await using bus = createMemoryBus();
  let waiting: Promise<unknown> | undefined;
  const broken: AgentPlugin = {
    name: "broken",
    async start({ agent }) {
      waiting = Promise.allSettled([agent]);
      throw new Error("no room");
    },
  };
  await expect(createAgent({ bus, model }).use(subagents()).use(broken).start()).rejects.toThrow("no room");
  expect(await waiting).toMatchObject([{ status: "rejected", reason: { message: "no room" } }]);
  expect((await bus.inspect("agent-helpers"))?.consumers ?? 0).toBe(0);
});
