import type { Bus } from "@rockbot/bus";
import { type AgentEvent, createEnvelope, encodeMessage, messages, newId } from "@rockbot/contracts";
import { type ModelServerRequest, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { atScale, record, seed } from "../faults/figures.ts";
import { openEffectsScene } from "./effects-scene.ts";

const KILLS = atScale(1, 20);
/** Turns that begin at random times before each kill, over two agents. */
const TURNS = 12;
/** About as long as a turn takes: so each is somewhere else when its agent is killed. */
const TURN_MS = 1_000;
const CALLS_PER_TURN = 3;
/** Kills without a pause, in the soak alone: far beyond the ten deaths that a broker allows a message. */
const ROW = atScale(0, 100);
/** A process of an agent lives so long at most, besides the start of the other one. */
const MAX_LIFE_MS = 3_000;
const LONG_ANSWERS = 20;
const REPLY_TO = "user.response.killer";

// Long because: it is one story, and each part of it needs the others
test(`agents killed at random points of ${KILLS * TURNS} turns lose none of them, answer each once, and run no call twice: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: 120_000 + KILLS * 60_000,
}, async () => {
  const random = seededRandom(seed);
  await using scene = await openEffectsScene(step, { caller: "killer", runMs: 80 });
  const { bus, caller, runs, start } = scene;
  await using heard = await hear(bus);
  const running = await Promise.all([start(), start()]);
  await scene.served();

  const asked: string[] = [];
  const answers: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const calls = Array.from({ length: TURNS }, async (_, turn) => {
      const content = `turn ${kill}-${turn}`;
      asked.push(content);
      await pause(random() * TURN_MS);
      if (turn % 2 === 0) await bus.publish(userMessage(content));
      else
        answers.push(
          (await caller.call("agent__chat", { message: content, session_id: content }, { timeoutMs: 120_000 }))
            .content ?? "",
        );
    });
    await pause(TURN_MS);
    await expect
      .poll(() => heard.begun(`turn ${kill}-`), { timeout: 60_000, interval: 10 })
      .toBeGreaterThanOrEqual(TURNS / 2);
    const victim = running[kill % 2];
    victim?.kill("SIGKILL");
    await victim?.ended;
    running[kill % 2] = await start();
    // A message over which agents die again and again is given up on: so each turn meets one kill.
    await Promise.all(calls);
    await expect.poll(() => heard.repliesTo().size, { timeout: 60_000 }).toBe(asked.length / 2);
  }

  const expected = (content: string): string => `Done with ${content}.`;
  expect(answers.toSorted()).toEqual(
    asked
      .filter((_, index) => index % 2 === 1)
      .map(expected)
      .toSorted(),
  );
  const replies = heard.repliesTo();
  for (const [content, of] of replies)
    expect([content, [...of]]).toEqual([
      content,
      [expect.stringMatching(new RegExp(`^[0-9a-f]{32} ${expected(content)}$`))],
    ]);
  const repeated = runs.length - new Set(runs).size;
  const takenUp = new Set(
    heard.events
      .filter(({ kind, text }) => kind === "notice" && text?.includes("taken up"))
      .map(({ turnId }) => turnId),
  ).size;
  await record({
    fault: "F37",
    done: `${asked.length} turns with ${CALLS_PER_TURN} calls each, half of them users' messages, and ${KILLS} kills of one of two agents, at a random point of each turn`,
    figures: {
      "answered once": answers.length + replies.size,
      "taken up": takenUp,
      "calls run": new Set(runs).size,
      "run twice": repeated,
    },
  });
  expect(repeated).toBe(0);
  expect(runs.map((run) => run.split(" call ")[0]).toSorted()).toEqual(
    asked.flatMap((content) => Array(CALLS_PER_TURN).fill(content)).toSorted(),
  );
  expect(takenUp).toBeGreaterThan(0);
});

// Long because: it is one story, and each part of it needs the others
test.skipIf(ROW === 0)(
  `turns over which agents are killed ${ROW} times in a row get on from kill to kill: each is answered once, and no call runs twice: ROCKBOT_TEST_SEED=${seed}`,
  {
    timeout: 300_000 + ROW * 30_000,
  },
  async () => {
    const random = seededRandom(seed);
    await using scene = await openEffectsScene(step, { caller: "killer", runMs: 50 });
    const { model, bus, caller, runs } = scene;
    await using heard = await hear(bus);
    using folder = temporaryFolder();
    const MODEL_BEHAVIORS = folder.write(
      "behaviors.json",
      JSON.stringify({ [model.model]: { maxIterations: LONG_ANSWERS } }),
    );
    const start = () => scene.start({ MODEL_BEHAVIORS });
    const running = await Promise.all([start(), start()]);
    await scene.served();

    const asked: string[] = [];
    const answers = new Map<string, string>();
    const ask = async (): Promise<void> => {
      const content = `long ${asked.length}-0`;
      asked.push(content);
      if (asked.length % 2 === 0) {
        await bus.publish(userMessage(content));
        await expect.poll(() => heard.repliesTo().get(content), { timeout: 600_000, interval: 100 }).toBeDefined();
      } else
        answers.set(
          content,
          (await caller.call("agent__chat", { message: content, session_id: content }, { timeoutMs: 600_000 }))
            .content ?? "",
        );
    };
    let isOver = false;
    const askers = Array.from({ length: 4 }, async () => {
      do await ask();
      while (!isOver);
    });
    for (let kill = 0; kill < ROW; kill++) {
      const victim = running[kill % 2];
      await pause(random() * MAX_LIFE_MS);
      victim?.kill("SIGKILL");
      await victim?.ended;
      running[kill % 2] = await start();
    }
    isOver = true;
    await Promise.all(askers);

    for (const content of asked) {
      const replies = answers.has(content)
        ? [answers.get(content)]
        : [...(heard.repliesTo().get(content) ?? [])].map((reply) => reply.replace(/^[0-9a-f]{32} /, ""));
      expect([content, replies]).toEqual([content, [`Done with ${content}.`]]);
    }
    const takenUp = heard.events.filter(({ kind, text }) => kind === "notice" && text?.includes("taken up"));
    const perTurn = Map.groupBy(takenUp, ({ turnId }) => turnId);
    const repeated = runs.length - new Set(runs).size;
    await record({
      fault: "F37",
      done: `${ROW} kills in a row of one of two agents, at random times, with four turns of ${LONG_ANSWERS} answers and ${2 * LONG_ANSWERS - 3} calls always under way, half of them users' messages`,
      figures: {
        turns: asked.length,
        "answered once": asked.length,
        "taken up": takenUp.length,
        "most often taken up": Math.max(0, ...[...perTurn.values()].map(({ length }) => length)),
        "calls run": new Set(runs).size,
        "run twice": repeated,
      },
    });
    expect(repeated).toBe(0);
    expect(runs.length).toBe(asked.length * (2 * LONG_ANSWERS - 3));
    for (const name of ["agent", "agent.user"]) expect((await bus.inspect(name, "parked"))?.messages).toBe(0);
  },
);

/**
 * A model that makes one call, then two at once, then answers; by how far the turn is, so that a question that comes
 * again gets the same.
 */
function step({ messages: all }: ModelServerRequest) {
  const at = all.findLastIndex(({ role }) => role === "user");
  const content = /(?:turn|long) \d+-\d+/.exec(all[at]?.text ?? "")?.[0] ?? "no turn";
  const call = (index: number) => ({ name: "effect", arguments: { what: `${content} call ${index}` } });
  const answered = all.slice(at).filter(({ role }) => role === "assistant").length;
  if (answered === 0) return { delayMs: 80, toolCalls: [call(0)] };
  if (content.startsWith("long") && answered < LONG_ANSWERS - 1)
    return { delayMs: 80, toolCalls: [call(2 * answered - 1), call(2 * answered)] };
  if (answered === 1) return { delayMs: 80, toolCalls: [call(1), call(2)] };
  return { delayMs: 80, text: `Done with ${content}.` };
}

/** The final replies to each message, each as its message's id and text, and the steps of all turns. */
async function hear(bus: Bus) {
  const finals = new Map<string, Set<string>>();
  const events: AgentEvent[] = [];
  const replies = await bus.subscribe(
    { name: "result.killer-users", topics: [REPLY_TO], kind: "result" },
    async ({ messageId, correlationId = "", body }) => {
      const { content, isFinal } = JSON.parse(Buffer.from(body).toString()) as { content: string; isFinal?: boolean };
      if (isFinal !== false)
        finals.set(correlationId, (finals.get(correlationId) ?? new Set()).add(`${messageId} ${content}`));
    },
  );
  const steps = await bus.subscribe(
    { name: "killer-events", topics: ["agent.event.#"], kind: "copy" },
    async ({ body }) => {
      events.push(JSON.parse(Buffer.from(body).toString()) as AgentEvent);
    },
  );
  return {
    events,
    repliesTo: () => finals,
    begun: (sessions: string) =>
      events.filter(({ kind, sessionId }) => kind === "turn_started" && sessionId.startsWith(sessions)).length,
    async [Symbol.asyncDispose]() {
      for (const each of [replies, steps]) await each[Symbol.asyncDispose]();
    },
  };
}

const userMessage = (content: string) =>
  createEnvelope({
    topic: "user.message",
    type: messages.UserMessage.type,
    source: "users",
    messageId: newId(),
    replyTo: REPLY_TO,
    correlationId: content,
    body: encodeMessage("UserMessage", { content, sessionId: content, userId: "somebody", targetAgent: null }),
  });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
