import type { FamilyTurn, ToolInvokeResponse } from "@rockbot/contracts";
import { temporaryFolder } from "@rockbot/testing";
import { beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { pythonWithA2a } from "../../a2a/python-sdk.ts";
import { startPythonAgent } from "../../a2a/start-python-agent.ts";
import { seededRandom } from "../../broker/seeded-random.ts";
import { atScale, record, seed } from "../../faults/figures.ts";
import { startProgram, startService } from "../../services/start-service.ts";
import { openEffectsScene } from "../effects-scene.ts";
import { storyAgents, storyAnswer, storyEffects, storyStep, treeOf } from "./family-story.ts";

const KILLS = atScale(1, 100);
const FAMILIES = 4;
/** About as long as a family takes. */
const FAMILY_MS = 2_500;
const MAX_TOKENS = 200_000;

let found: Awaited<ReturnType<typeof pythonWithA2a>>;
beforeAll(async () => {
  found = await pythonWithA2a();
}, 300_000);

// Long because: it is one story, and each part of it needs the others
test(`agents killed at random points of ${KILLS * FAMILIES} families lose no session of them, and run no call twice: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: 120_000 + KILLS * 60_000,
}, async ({ skip }) => {
  if ("missing" in found) return skip(found.missing);
  const random = seededRandom(seed);
  using folder = temporaryFolder();
  const AGENTS_FILE = folder.write("agents.yaml", stringify(storyAgents("cli")));
  await using elsewhere = await startPythonAgent(found.python, "JSONRPC");
  await using scene = await openEffectsScene(storyStep, { caller: "cli", runMs: 40 });
  const { caller, runs } = scene;
  const A2A_AGENTS_FILE = folder.write("well-known-agents.json", { agents: { echo: { url: elsewhere.url } } });
  await using _a2a = await startService("a2a", {
    ...scene.servers,
    A2A_AGENTS_FILE,
    ALLOW_ADDRESSES: new URL(elsewhere.url).host,
    HEALTH_PORT: "0",
  });
  const start = () => scene.start({ AGENTS_FILE });
  const running = await Promise.all([start(), start()]);
  await scene.served();

  const tasks: string[] = [];
  const results = new Map<string, ToolInvokeResponse>();
  for (let kill = 0; kill < KILLS; kill++) {
    const asking = Array.from({ length: FAMILIES }, async (_, index) => {
      const task = `task-${kill}-${index}`;
      tasks.push(task);
      results.set(
        task,
        await caller.call("agent__chat", { message: `Start ${task}`, session_id: task }, { timeoutMs: 120_000 }),
      );
    });
    await pause(random() * FAMILY_MS);
    const victim = running[kill % 2];
    victim?.kill("SIGKILL");
    await victim?.ended;
    running[kill % 2] = await start();
    await Promise.all(asking);
  }

  for (const task of tasks) {
    expect(results.get(task)?.content).toBe(storyAnswer(task));
    const { structured } = await caller.call("agent__family", { session_id: task });
    expect(
      treeOf((structured as { readonly turns: readonly FamilyTurn[] }).turns).map(
        (line) => line.trim().split(" ", 1)[0],
      ),
    ).toEqual(["session", "coordinator", "scout", "miner"]);
  }
  const shown = startProgram("packages/cli/src/main.ts", {
    args: ["agents", "show", "--session", tasks[0] ?? "", "--bus", scene.servers.BUS_URL],
  });
  await shown.ended;
  expect(shown.stdout()).toMatch(/^agent .*\n {2}coordinator .*\n {4}scout .*\n {4}miner /);
  const tokens = [...results.values()]
    .map(({ structured }) => (structured as { readonly usage: Usage }).usage)
    .map(spent);
  expect(Math.max(...tokens)).toBeLessThanOrEqual(MAX_TOKENS);
  const doubled = runs.length - new Set(runs).size;
  await record({
    fault: "F37",
    done: `${tasks.length} families of a session, its coordinator, an agent that calls one of another maker by A2A, and one that runs a wisp, and ${KILLS} kills of one of two agents, at a random point of each family`,
    figures: {
      "families answered": results.size,
      "calls run": new Set(runs).size,
      "run twice": doubled,
      "most tokens of a family": Math.max(...tokens),
    },
  });
  expect(doubled).toBe(0);
  expect(runs.map((run) => run.replace(/ \S+$/, "")).toSorted()).toEqual(tasks.flatMap(storyEffects).toSorted());
});

interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}
const spent = ({ input_tokens, output_tokens }: Usage): number => input_tokens + output_tokens;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
