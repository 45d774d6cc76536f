import type { ToolInvokeResponse } from "@rockbot/contracts";
import { type ModelServerRequest, type ModelStep, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { seededRandom } from "../../broker/seeded-random.ts";
import { atScale, record, seed } from "../../faults/figures.ts";
import { openEffectsScene } from "../effects-scene.ts";

const KILLS = atScale(1, 100);
const FAMILIES = 4;
const CALLS = 2;
const MAX_TOKENS = 200_000;
/** About as long as a family takes. */
const FAMILY_MS = 1_500;
const WORKERS = ["scout", "miner"];

const definitions = {
  coordinator: { playbook: "Have your agents do the work.", tools: ["agent__*", "effect"], maker: "killer", maxTokens: MAX_TOKENS },
  ...Object.fromEntries(WORKERS.map((name) => [name, { playbook: "Work.", tools: ["effect"], maker: "killer" }])),
};

// Long because: it is one story, and each part of it needs the others
test(`agents killed at random points of ${KILLS * FAMILIES} families lose no session of them, and run no call twice: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: 120_000 + KILLS * 60_000,
}, async () => {
  const random = seededRandom(seed);
  using folder = temporaryFolder();
  const AGENTS_FILE = folder.write("agents.yaml", stringify(definitions));
  await using scene = await openEffectsScene(step, { caller: "killer", runMs: 80 });
  const { caller, runs } = scene;
  const start = () => scene.start({ AGENTS_FILE });
  const running = await Promise.all([start(), start()]);
  await scene.served();

  const tasks: string[] = [];
  const results = new Map<string, ToolInvokeResponse>();
  for (let kill = 0; kill < KILLS; kill++) {
    const asking = Array.from({ length: FAMILIES }, async (_, index) => {
      const task = `task-${kill}-${index}`;
      tasks.push(task);
      results.set(task, await caller.call("agent__chat", { message: `Start ${task}`, session_id: task }, { timeoutMs: 120_000 }));
    });
    await pause(random() * FAMILY_MS);
    const victim = running[kill % 2];
    victim?.kill("SIGKILL");
    await victim?.ended;
    running[kill % 2] = await start();
    await Promise.all(asking);
  }

  for (const task of tasks) expect(results.get(task)?.content).toBe(`${task}: ${task} by ${WORKERS.join(" and ")}`);
  const tokens = [...results.values()].map(({ structured }) => (structured as { readonly usage: Usage }).usage).map(spent);
  expect(Math.max(...tokens)).toBeLessThanOrEqual(MAX_TOKENS);
  const doubled = runs.length - new Set(runs).size;
  await record({
    fault: "F37",
    done: `${tasks.length} families of a session, its coordinator and two agents with ${CALLS} calls each, and ${KILLS} kills of one of two agents, at a random point of each family`,
    figures: { "families answered": results.size, "calls run": new Set(runs).size, "run twice": doubled, "most tokens of a family": Math.max(...tokens) },
  });
  expect(doubled).toBe(0);
  expect(runs.map((run) => run.replace(/ \S+$/, "")).toSorted()).toEqual(
    tasks.flatMap((task) => WORKERS.flatMap((name) => Array(CALLS).fill(`${task} ${name}`))).toSorted(),
  );
});

interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}
const spent = ({ input_tokens, output_tokens }: Usage): number => input_tokens + output_tokens;

/** A session has its coordinator work, which has two agents work side by side and reads on the whiteboard what they came to. */
function step({ messages }: ModelServerRequest): ModelStep {
  const name = /^You are ([a-z]+)/.exec(messages[0]?.text ?? "")?.[1] ?? "";
  const task = /task-\d+-\d+/.exec(messages.findLast(({ role }) => role === "user")?.text ?? "")?.[0] ?? "";
  const results = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
  const call = (tool: string, args: object = {}): ModelStep => ({ toolCalls: [{ name: tool, arguments: args }], delayMs: 50 });
  const report = (content: string) => call("agent__final_report", { status: "success", format: "text", content });
  if (name === "coordinator") {
    if (results.length === 0)
      return { toolCalls: WORKERS.map((worker) => ({ name: `agent__${worker}`, arguments: { prompt: `Work on ${task}` } })), delayMs: 50 };
    if (results.length === WORKERS.length) return { toolCalls: WORKERS.map((key) => ({ name: "whiteboard_read", arguments: { key } })), delayMs: 50 };
    return report(
      `${task} by ${results
        .slice(WORKERS.length)
        .map((text) => /done by (\w+)/.exec(text)?.[1])
        .join(" and ")}`,
    );
  }
  if (WORKERS.includes(name)) {
    if (results.length < CALLS) return call("effect", { what: `${task} ${name}` });
    return results.length === CALLS ? call("whiteboard_write", { key: name, content: `done by ${name}` }) : report("It is on the whiteboard.");
  }
  if (results.length === 0) return call("agent__coordinator", { prompt: `Coordinate ${task}` });
  return { text: `${task}: ${results[0]}`, delayMs: 50 };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
