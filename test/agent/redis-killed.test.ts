import type { Bus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import {
  type ModelServerRequest,
  type ModelStep,
  ownVirtualHost,
  startModelServer,
  startOwnRedis,
} from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "../services/start-service.ts";
import { effectTool } from "./effect-tool.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const SESSION = "monday";

// Long because: it is one story, and each part of it needs the others
test("a Redis that is killed and comes back in the middle of turns costs no turn: one that runs, a fire that runs, and a fire that was due meanwhile", {
  timeout: 120_000,
}, async () => {
  await using model = await startModelServer(step);
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  await using bus = await connectBus(broker.url, { name: "test" });
  await using claims = await connectRedisClaimStore(redis.url);
  const runs: string[] = [];
  const { promise: isDown, resolve: tellDown } = Promise.withResolvers<void>();
  const effect = effectTool(async (_callId, what) => {
    runs.push(what);
    await isDown;
  });
  await using _effects = await serveTools(bus, { tools: [effect] }, { service: "effects", claims });
  await using replies = await hearReplies(bus);
  await using caller = await createToolCaller(bus, { agent: "alice" });
  const env = {
    BUS_URL: broker.url,
    REDIS_URL: redis.url,
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    TIMEZONE: "UTC",
  };
  await using _agent = await startService("agent", env);
  await using _scheduler = await startService("scheduler", env);
  await expect
    .poll(() => ["agent__chat", "schedule_task"].map((name) => caller.tools.getExecutor(name) !== undefined), WAIT)
    .toEqual([true, true]);

  const schedule = (name: string, at: number) =>
    caller.call(
      "schedule_task",
      { name, cron: cronOf(at), description: `Do task ${name}`, run_once: true },
      { sessionId: `session/${SESSION}` },
    );
  const meanwhile = Date.now() + 8_000;
  await schedule("meanwhile", meanwhile);
  await schedule("running", Date.now() + 2_000);
  const asked = caller.call("agent__chat", { message: "Do task asked", session_id: "tuesday" }, { timeoutMs: 60_000 });
  await expect.poll(() => runs.toSorted(), WAIT).toEqual(["asked", "running"]);

  await redis.kill();
  tellDown(); // results come, and there is nowhere to keep them
  await expect(caller.call("agent__chat", { message: "Do task refused" }, { timeoutMs: 20_000 })).rejects.toMatchObject(
    { code: "unavailable" },
  );
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, meanwhile + 1_000 - Date.now())));
  await redis.restart();

  expect((await asked).content).toBe("Did asked.");
  await expect.poll(() => replies.finals().toSorted(), WAIT).toEqual(["Did meanwhile.", "Did running."]);
  expect(runs.toSorted()).toEqual(["asked", "meanwhile", "running"]);
  // The session remembers, and the tasks have run.
  await caller.call("agent__chat", { message: "Do task again", session_id: "tuesday" });
  expect(model.requests.at(-1)?.messages.map(({ text }) => text)).toContain("Did asked.");
  await expect
    .poll(async () => (await caller.call("list_scheduled_tasks", {})).structured?.["tasks"], WAIT)
    .toMatchObject(
      ["meanwhile", "running"].map((name) => ({ name, is_running: false, last_run: { text: `Did ${name}.` } })),
    );
});

/**
 * A model that makes the call that the last message names, says so when it was made, and repeats it while the tool's
 * service has no Redis yet.
 */
function step({ messages }: ModelServerRequest): ModelStep {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const [, what = ""] = /Do task (\w+)/.exec(messages[at]?.text ?? "") ?? [];
  const result = messages.slice(at + 1).at(-1)?.text;
  if (result?.includes(`did ${what}`)) return { text: `Did ${what}.` };
  return { toolCalls: [{ name: "effect", arguments: { what } }], delayMs: result === undefined ? 0 : 500 };
}

function cronOf(at: number): string {
  const time = new Date(at);
  return `${time.getUTCSeconds()} ${time.getUTCMinutes()} ${time.getUTCHours()} * * *`;
}

async function hearReplies(bus: Bus) {
  const finals = new Map<string, string>();
  const subscription = await bus.subscribe(
    { name: "replies", topics: ["user.response.#"], kind: "copy" },
    async ({ messageId, body }) => {
      const { content, isFinal } = JSON.parse(Buffer.from(body).toString()) as { content: string; isFinal?: boolean };
      if (isFinal !== false) finals.set(messageId, content);
    },
  );
  return { finals: () => [...finals.values()], [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose]() };
}
