import { spawnSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { type AgentReply, createEnvelope, encodeMessage, messages } from "@rockbot/contracts";
import {
  type CollectedSpan,
  type ModelScript,
  missingNamespaces,
  type OtlpCollector,
  ownVirtualHost,
  startModelServer,
  startOtlpCollector,
  startOwnRedis,
  startPageServer,
  temporaryFolder,
} from "@rockbot/testing";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { startProgram, startService } from "../services/start-service.ts";
import { ANSWER, calledTools, page, QUESTION, STEPS, type StoryScript, storyModel } from "./story.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const missing =
  missingNamespaces() ?? (spawnSync("python3", ["--version"]).status === 0 ? undefined : "there is no python3");
const reason = missing === undefined ? "" : `, skipped: ${missing}`;

/** The world around the system: a page, a model, and what traces are sent to. */
async function startWorld(around: (script: StoryScript) => ModelScript = (script) => script) {
  await using started = new AsyncDisposableStack();
  const pages = started.use(await startPageServer({ "/warehouse": page }));
  const model = started.use(await startModelServer(around(storyModel(`${pages.url}/warehouse`))));
  const collector = started.use(await startOtlpCollector());
  const env = {
    ...collector.env,
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    ALLOW_ADDRESSES: `127.0.0.1:${pages.port}`,
    TIMEZONE: "UTC",
  };
  const world = started.move();
  return { pages, model, collector, env, [Symbol.asyncDispose]: () => world.disposeAsync() };
}

test.skipIf(missing)(
  `over RabbitMQ a user's message is answered after a search, a guide, a page in parts, a script and a schedule, in one trace, and the reminder comes${reason}`,
  { timeout: 240_000 },
  async () => {
    await using world = await startWorld();
    await using redis = await startOwnRedis();
    await using system = await startOverRabbit({ ...world.env, REDIS_URL: redis.url });
    await system.ask();
    await expect.poll(() => system.finals(), WAIT).toHaveLength(2);

    const [answer, reminder] = system.finals();
    expect(answer).toMatchObject({ content: ANSWER, sessionId: "monday", correlationId: "q" });
    expect(reminder).toMatchObject({
      content: "Check the shelves 42 and 77.",
      sessionId: "monday",
      correlationId: undefined,
    });
    expect(calledTools(world.model.requests)).toEqual(STEPS);
    expect(world.pages.requests).toHaveLength(1);
    await expect
      .poll(() => servedIn(world.collector, "agent__chat"), WAIT)
      .toEqual([
        "agent agent__chat",
        ...["get_from_working_memory", "get_from_working_memory", "get_tool_guide", "search_known_services"].map(
          (name) => `agent ${name}`,
        ),
        "scheduler schedule_task",
        "scripts-manager execute_python_script",
        "web-tools web_browse",
      ]);
  },
);

test.skipIf(missing)(
  `a Redis that is killed in the middle of the story, and comes back, costs neither the answer nor the reminder, and makes nothing twice${reason}`,
  { timeout: 240_000 },
  async () => {
    await using redis = await startOwnRedis();
    let comesBack: Promise<void> | undefined;
    const killing =
      (script: StoryScript): ModelScript =>
      async (request) => {
        const step = script(request);
        // A model takes a second for an answer, and has waited when a tool said "Try again later".
        if (comesBack !== undefined) await comesBack.then(() => setTimeout(1_000));
        if (comesBack !== undefined || step.toolCalls?.[0]?.name !== "execute_python_script") return step;
        await redis.kill(); // so the answer cannot be kept, nor its call be claimed
        comesBack = setTimeout(2_000).then(() => redis.restart());
        return step;
      };
    await using world = await startWorld(killing);
    await using system = await startOverRabbit({ ...world.env, REDIS_URL: redis.url });
    await system.ask();
    await expect
      .poll(() => system.finals().map(({ content }) => content), WAIT)
      .toEqual([ANSWER, "Check the shelves 42 and 77."]);

    await comesBack;
    expect(calledTools(world.model.requests)).toEqual(STEPS);
    expect(world.pages.requests).toHaveLength(1);
  },
);

test.skipIf(missing)(
  `in one process the client library of OpenAI gets the same answer, in one trace, and the session goes on${reason}`,
  { timeout: 240_000 },
  async () => {
    await using world = await startWorld();
    using folder = temporaryFolder();
    const env = {
      ...world.env,
      ROCKBOT_RUNTIME_DIR: `${folder.path}/run`,
      SCHEDULES_FILE: `${folder.path}/schedules.json`,
    };
    await using up = await startUp(env);
    const baseURL = `${/gateway +(http:\/\/127\.0\.0\.1:\d+)/.exec(up.stderr())?.[1]}/v1`;
    const client = new OpenAI({ apiKey: "none needed", baseURL, defaultHeaders: { "rockbot-session": "monday" } });
    const ask = (content: string) =>
      client.chat.completions.create({ model: "rockbot", messages: [{ role: "user", content }] });

    const { choices } = await ask(QUESTION);

    expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: ANSWER } });
    expect(calledTools(world.model.requests)).toEqual(STEPS);
    await expect
      .poll(() => servedIn(world.collector, "agent__chat"), WAIT)
      .toEqual(["agent__chat", ...STEPS.flat()].map((name) => `rockbot ${name}`).toSorted());
    // The reminder has no topic to go to: it is in the session.
    await expect
      .poll(() => world.model.requests.at(-1)?.messages.findLast(({ role }) => role === "user")?.text, WAIT)
      .toContain("This scheduled task runs once");
  },
);

/** The services of the story as processes over RabbitMQ, and a user. */
async function startOverRabbit(env: Readonly<Record<string, string>>) {
  await using started = new AsyncDisposableStack();
  const broker = started.use(await ownVirtualHost());
  const names = ["web-tools", "mcp-bridge", "scripts-manager", "scheduler", "agent", "gateway"];
  await Promise.all(
    names.map(async (name) => started.use(await startService(name, { ...env, BUS_URL: broker.url, PORT: "0" }))),
  );
  const bus = started.use(await connectBus(broker.url, { name: "users" }));
  const replies: (AgentReply & { readonly correlationId: string | undefined })[] = [];
  const hearing = { name: "result.users", topics: ["user.response.users"], kind: "result" } as const;
  started.use(
    await bus.subscribe(hearing, async ({ correlationId, body }) => {
      replies.push({ ...(JSON.parse(Buffer.from(body).toString()) as AgentReply), correlationId });
    }),
  );
  const body = encodeMessage("UserMessage", { content: QUESTION, sessionId: "monday", userId: "u", targetAgent: null });
  const question = {
    topic: "user.message",
    type: messages.UserMessage.type,
    source: "users",
    replyTo: "user.response.users",
    correlationId: "q",
    body,
  };
  const system = started.move();
  return {
    ask: () => bus.publish(createEnvelope(question)),
    finals: () => replies.filter(({ isFinal }) => isFinal !== false),
    [Symbol.asyncDispose]: () => system.disposeAsync(),
  };
}

/** The whole system in one process, once it is ready. */
async function startUp(env: Readonly<Record<string, string>>) {
  const up = startProgram("packages/cli/src/main.ts", { args: ["up", "--port", "0"], env });
  await expect.poll(() => up.stderr(), WAIT).toContain("ready in");
  return up;
}

/** The services and tools of the calls in the trace of a tool's call, sorted. */
function servedIn(collector: OtlpCollector, toolName: string): string[] {
  const EXECUTES = "execute_tool ";
  const isServing = ({ kind, name }: CollectedSpan): boolean => kind !== "producer" && name.startsWith(EXECUTES);
  const spans = collector.spans();
  const first = spans.find((span) => isServing(span) && span.name === EXECUTES + toolName);
  return spans
    .filter((span) => span.traceId === first?.traceId && isServing(span))
    .map(({ service, name }) => `${service} ${name.slice(EXECUTES.length)}`)
    .toSorted();
}
