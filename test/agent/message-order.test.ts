import { connectBus } from "@rockbot/bus-rabbitmq";
import {
  type ModelServerRequest,
  ownVirtualHost,
  startModelServer,
  startOwnRedis,
  temporaryFolder,
} from "@rockbot/testing";
import { expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { seed } from "../faults/figures.ts";
import { startService } from "../services/start-service.ts";
import { hearReplies } from "./hear-replies.ts";

const WAIT = { timeout: 90_000, interval: 20 };
const SESSIONS = ["red", "green", "blue"];
const BURST = 12;
/** So that turns of one session are not as long as those of another. */
const MAX_ANSWER_MS = 40;

/** What each session is sent, in order. */
const burst = (session: string): string[] => Array.from({ length: BURST }, (_, index) => `${session} ${index}`);

/** Three replicas of the agent over one broker and one Redis, whose model says of each question which replica asks. */
async function startReplicas(answer: (question: string) => Promise<void>) {
  await using started = new AsyncDisposableStack();
  const asked: { readonly question: string; readonly replica: string }[] = [];
  const model = started.use(
    await startModelServer(async ({ messages }: ModelServerRequest) => {
      const question = /\w+ \d+$/.exec(messages.findLast(({ role }) => role === "user")?.text ?? "")?.[0] ?? "";
      asked.push({ question, replica: /replica-\d/.exec(messages[0]?.text ?? "")?.[0] ?? "" });
      await answer(question);
      return { text: `Answer to ${question}.` };
    }),
  );
  const broker = started.use(await ownVirtualHost());
  const redis = started.use(await startOwnRedis());
  const folder = started.use(temporaryFolder());
  const bus = started.use(await connectBus(broker.url, { name: "test" }));
  const users = started.use(await hearReplies(bus));
  const env = {
    BUS_URL: broker.url,
    REDIS_URL: redis.url,
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
  };
  const start = async (number: number) => {
    const SYSTEM_PROMPT_FILE = folder.write(`${number}.txt`, `You are replica-${number}.`);
    return started.use(await startService("agent", { ...env, SYSTEM_PROMPT_FILE }));
  };
  const replicas = [await start(0), await start(1), await start(2)] as const; // so the first one is the oldest
  const all = started.move();
  return {
    users,
    replicas,
    asked,
    /** The replies to a session's messages, in order. */
    repliesIn: (session: string) =>
      users
        .finals()
        .map(({ content }) => content)
        .filter((content) => content.startsWith(`Answer to ${session} `)),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A burst to each session, one message of each in turn. */
const burstsOf = (sessions: readonly string[]): { readonly session: string; readonly content: string }[] =>
  Array.from({ length: BURST }, (_, index) =>
    sessions.map((session) => ({ session, content: `${session} ${index}` })),
  ).flat();

test(`bursts of messages to sessions are answered in the order of each, by all of three replicas: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: 180_000,
}, async () => {
  const random = seededRandom(seed);
  await using system = await startReplicas(
    () => new Promise((resolve) => setTimeout(resolve, random() * MAX_ANSWER_MS)),
  );

  await Promise.all(burstsOf(SESSIONS).map(({ session, content }) => system.users.ask(session, content)));

  await expect.poll(() => system.users.finals().length, WAIT).toBe(SESSIONS.length * BURST);
  for (const session of SESSIONS) {
    expect(system.asked.map(({ question }) => question).filter((question) => question.startsWith(session))).toEqual(
      burst(session),
    );
    expect(system.repliesIn(session)).toEqual(burst(session).map((content) => `Answer to ${content}.`));
  }
  expect([...new Set(system.asked.map(({ replica }) => replica))].toSorted()).toEqual([
    "replica-0",
    "replica-1",
    "replica-2",
  ]);
});

test("the messages that the oldest replica had when it was killed are answered in their order by the others", {
  timeout: 180_000,
}, async () => {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await using system = await startReplicas(async (question) => {
    if (question !== "red 3") return;
    reached.resolve();
    await released.promise;
  });
  const [oldest] = system.replicas;

  await Promise.all(burst("red").map((content) => system.users.ask("red", content)));
  await reached.promise;
  oldest.kill("SIGKILL");
  await oldest.ended;
  released.resolve();

  await expect.poll(() => new Set(system.repliesIn("red")).size, WAIT).toBe(BURST);
  const answered = burst("red").map((content) => `Answer to ${content}.`);
  expect([...new Set(system.repliesIn("red"))]).toEqual(answered);
  expect([...new Set(system.asked.map(({ question }) => question))]).toEqual(burst("red")); // one may have been asked twice
});
