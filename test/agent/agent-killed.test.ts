import type { Bus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { type AgentEvent, createEnvelope, encodeMessage, messages, newId } from "@rockbot/contracts";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { type ModelServerRequest, ownVirtualHost, startModelServer, startOwnRedis } from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { atScale, record, seed } from "../faults/figures.ts";
import { startService } from "../services/start-service.ts";
import { effectTool } from "./effect-tool.ts";

const KILLS = atScale(1, 20);
/** Turns that begin at random times before each kill, over two agents. */
const TURNS = 12;
/** About as long as a turn takes: so each is somewhere else when its agent is killed. */
const TURN_MS = 1_000;
const CALLS_PER_TURN = 3;
const REPLY_TO = "user.response.killer";

// Long because: it is one story, and each part of it needs the others
test(`agents killed at random points of ${KILLS * TURNS} turns lose none of them, answer each once, and run no call twice: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: 120_000 + KILLS * 60_000,
}, async () => {
  const random = seededRandom(seed);
  await using model = await startModelServer(step);
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  await using bus = await connectBus(broker.url, { name: "test" });
  await using claims = await connectRedisClaimStore(redis.url);
  const runs: string[] = [];
  const effect = effectTool(async (callId, what) => {
    runs.push(`${what} ${callId}`);
    await pause(80);
  });
  await using _effects = await serveTools(bus, { tools: [effect] }, { service: "effects", claims });
  await using heard = await hear(bus);
  await using caller = await createToolCaller(bus, { agent: "killer" });
  const env = { BUS_URL: broker.url, REDIS_URL: redis.url, MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey };
  await using agents = new AsyncDisposableStack();
  const start = async () => agents.use(await startService("agent", env));
  const running = await Promise.all([start(), start()]);
  await expect.poll(() => caller.tools.getExecutor("agent__chat")).toBeDefined();

  const asked: string[] = [];
  const answers: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const calls = Array.from({ length: TURNS }, async (_, turn) => {
      const content = `turn ${kill}-${turn}`;
      asked.push(content);
      await pause(random() * TURN_MS);
      if (turn % 2 === 0) await bus.publish(userMessage(content));
      else answers.push((await caller.call("agent__chat", { message: content, session_id: content }, { timeoutMs: 120_000 })).content ?? "");
    });
    await pause(TURN_MS);
    await expect.poll(() => heard.begun(`turn ${kill}-`), { timeout: 60_000, interval: 10 }).toBeGreaterThanOrEqual(TURNS / 2);
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
    expect([content, [...of]]).toEqual([content, [expect.stringMatching(new RegExp(`^[0-9a-f]{32} ${expected(content)}$`))]]);
  const repeated = runs.length - new Set(runs).size;
  const takenUp = new Set(heard.events.filter(({ kind, text }) => kind === "notice" && text?.includes("taken up")).map(({ turnId }) => turnId)).size;
  await record({
    fault: "F37",
    done: `${asked.length} turns with ${CALLS_PER_TURN} calls each, half of them users' messages, and ${KILLS} kills of one of two agents, at a random point of each turn`,
    figures: { "answered once": answers.length + replies.size, "taken up": takenUp, "calls run": new Set(runs).size, "run twice": repeated },
  });
  expect(repeated).toBe(0);
  expect(runs.map((run) => run.split(" call ")[0]).toSorted()).toEqual(asked.flatMap((content) => Array(CALLS_PER_TURN).fill(content)).toSorted());
  expect(takenUp).toBeGreaterThan(0);
});

/** A model that makes one call, then two at once, then answers; by how far the turn is, so that a question that comes again gets the same. */
function step({ messages: all }: ModelServerRequest) {
  const at = all.findLastIndex(({ role }) => role === "user");
  const content = /turn \d+-\d+/.exec(all[at]?.text ?? "")?.[0] ?? "no turn";
  const call = (index: number) => ({ name: "effect", arguments: { what: `${content} call ${index}` } });
  const answered = all.slice(at).filter(({ role }) => role === "assistant").length;
  if (answered === 0) return { delayMs: 80, toolCalls: [call(0)] };
  if (answered === 1) return { delayMs: 80, toolCalls: [call(1), call(2)] };
  return { delayMs: 80, text: `Done with ${content}.` };
}

/** The final replies to each message, each as its message's id and text, and the steps of all turns. */
async function hear(bus: Bus) {
  const finals = new Map<string, Set<string>>();
  const events: AgentEvent[] = [];
  const replies = await bus.subscribe({ name: "result.killer-users", topics: [REPLY_TO], kind: "result" }, async ({ messageId, correlationId = "", body }) => {
    const { content, isFinal } = JSON.parse(Buffer.from(body).toString()) as { content: string; isFinal?: boolean };
    if (isFinal !== false) finals.set(correlationId, (finals.get(correlationId) ?? new Set()).add(`${messageId} ${content}`));
  });
  const steps = await bus.subscribe({ name: "killer-events", topics: ["agent.event.#"], kind: "copy" }, async ({ body }) => {
    events.push(JSON.parse(Buffer.from(body).toString()) as AgentEvent);
  });
  return {
    events,
    repliesTo: () => finals,
    begun: (sessions: string) => events.filter(({ kind, sessionId }) => kind === "turn_started" && sessionId.startsWith(sessions)).length,
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
