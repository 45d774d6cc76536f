import type { ModelServerRequest, ModelStep } from "@rockbot/testing";
import { expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { atScale, record, seed } from "../faults/figures.ts";
import { openEffectsScene } from "./effects-scene.ts";

const KILLS = atScale(1, 25);
const SESSIONS = 6;
const CALLS = 3;
/** Roughly the time of a helper with the turn for its result. */
const HELPER_MS = 1_500;

// Long because: it is one story, and each part of it needs the others
test(`agents killed at random points of ${KILLS * SESSIONS} helpers lose none of them, run no call twice, and tell each session once: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: 120_000 + KILLS * 60_000,
}, async () => {
  const random = seededRandom(seed);
  const finished: string[] = [];
  await using scene = await openEffectsScene(step, { caller: "killer", runMs: 80 });
  const { bus, caller, runs, start } = scene;
  await using _replies = await bus.subscribe(
    { name: "replies", topics: ["user.response.#"], kind: "copy" },
    async ({ body, messageId }) => {
      const { content } = JSON.parse(Buffer.from(body).toString()) as { readonly content: string };
      finished.push(`${content} ${messageId}`);
    },
  );
  const running = await Promise.all([start(), start()]);
  await scene.served();

  const tasks: string[] = [];
  const told = (): string[] => [...new Set(finished.map((each) => each.split(" ")[1] ?? ""))].toSorted(); // a reply may come twice, with the same id
  for (let kill = 0; kill < KILLS; kill++) {
    const asking = Array.from({ length: SESSIONS }, async (_, index) => {
      const task = `task-${kill}-${index}`;
      tasks.push(task);
      await caller.call("agent__chat", { message: `Start ${task}`, session_id: task }, { timeoutMs: 120_000 });
    });
    await Promise.all(asking);
    await pause(random() * HELPER_MS);
    const victim = running[kill % 2];
    victim?.kill("SIGKILL");
    await victim?.ended;
    running[kill % 2] = await start();
    await expect.poll(told, { timeout: 90_000 }).toEqual(tasks.toSorted());
  }

  expect(new Set(finished).size).toBe(tasks.length); // one id for each session
  const doubled = runs.length - new Set(runs).size;
  await record({
    fault: "F37",
    done: `${tasks.length} helpers with ${CALLS} calls each, and ${KILLS} kills of one of two agents, at a random point of each helper and of the turn that is told of it`,
    figures: { "sessions told": told().length, "calls run": new Set(runs).size, "run twice": doubled },
  });
  expect(doubled).toBe(0);
  expect(runs.map((run) => run.split(" ")[0] ?? "").toSorted()).toEqual(
    tasks.flatMap((task) => Array<string>(CALLS).fill(task)).toSorted(),
  );
});

/** A session starts a helper, a helper makes its calls, and the session repeats the result. */
function step({ messages }: ModelServerRequest): ModelStep {
  const asked = messages.findLast(({ role }) => role === "user")?.text ?? "";
  const results = messages.filter(({ role }) => role === "tool").length;
  const task = /task-\d+-\d+/.exec(asked)?.[0] ?? "";
  if (asked.includes("Your helper ")) return { text: `told ${task}` };
  if (asked.startsWith("Start "))
    return results > 0
      ? { text: "Started." }
      : { toolCalls: [{ name: "spawn_subagent", arguments: { description: `Work on ${task}` } }] };
  return results < CALLS
    ? { toolCalls: [{ name: "effect", arguments: { what: task } }], delayMs: 50 }
    : { text: `Done with ${task}.` };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
