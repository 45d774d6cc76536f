import type { Bus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import type { ToolDefinition } from "@rockbot/contracts";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import {
  type ModelServerRequest,
  ownVirtualHost,
  startModelServer,
  startOwnRedis,
  temporaryFolder,
} from "@rockbot/testing";
import { defineTool, serveTools } from "@rockbot/tools";
import { test } from "vitest";
import { verifiedHost } from "../broker/verified-broker.ts";
import { whoTool } from "../broker/verified-system.ts";
import { startService } from "../services/start-service.ts";
import { hearReplies } from "./hear-replies.ts";

const WAIT = { timeout: 60_000, interval: 20 };

/** Where a turn is when the agent that runs it is killed. */
const points = ["at its first answer", "in its call", "at its last answer", "waiting for its session"] as const;

const held = points.slice(0, 3);

/** Holds callers until it is opened. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

// Long because: it is one story, and each part of it needs the others
test.concurrent("turns of an agent that is killed are taken up by another one: each message gets one answer, and no call runs twice", {
  timeout: 120_000,
}, async ({ expect }) => {
  const released = gate();
  const at = new Map<string, number>();
  const reach = async (point: string): Promise<void> => {
    at.set(point, (at.get(point) ?? 0) + 1);
    await released.passed;
  };
  await using model = await startModelServer(async (request) => {
    const said = saidIn(request);
    if (!hasResult(request)) {
      if (said === "at its first answer") await reach(said);
      return { toolCalls: [{ name: "note_down", arguments: { what: said } }] };
    }
    if (said === "at its last answer") await reach(said);
    return { text: `Noted ${said}.` };
  });
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  await using bus = await connectBus(broker.url, { name: "test" });
  await using claims = await connectRedisClaimStore(redis.url);
  const runs: string[] = [];
  await using _notes = await serveTools(
    bus,
    {
      tools: [
        noteTool(async (what) => {
          runs.push(what);
          if (what === "in its call") await reach(what);
        }),
      ],
    },
    { service: "notes", claims },
  );
  await using users = await hearReplies(bus);
  const env = {
    BUS_URL: broker.url,
    REDIS_URL: redis.url,
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
  };

  await using first = await startService("agent", env);
  for (const point of held) await users.ask(point, point);
  await expect.poll(() => [...at.keys()].toSorted(), WAIT).toEqual(held.toSorted());
  await users.ask("in its call", "waiting for its session");
  await expect.poll(async () => (await bus.inspect("agent.user"))?.messages, WAIT).toBe(0);
  await using _second = await startService("agent", env);
  first.kill("SIGKILL");
  await first.ended;
  released.open();

  await expect
    .poll(
      () =>
        users
          .finals()
          .map(({ correlationId }) => correlationId)
          .toSorted(),
      WAIT,
    )
    .toEqual([...points].toSorted());
  expect(
    users
      .finals()
      .map(({ content }) => content)
      .toSorted(),
  ).toEqual(points.map((point) => `Noted ${point}.`).toSorted());
  expect(runs.toSorted()).toEqual([...points].toSorted());
  // What the model has said is kept: only the question without an answer is asked again.
  const asked = model.requests.filter((request) => saidIn(request) === "at its last answer").map(hasResult);
  expect(asked).toEqual([false, true, true]);
});

test.concurrent("an agent that is stopped in the middle of a call leaves its turn, and the call, to another one", {
  timeout: 120_000,
}, async ({ expect }) => {
  const released = gate();
  const runs: string[] = [];
  const aborted: string[] = [];
  await using model = await startModelServer((request) =>
    hasResult(request) ? { text: "Done." } : { toolCalls: [{ name: "note_down", arguments: { what: "it" } }] },
  );
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  await using bus = await connectBus(broker.url, { name: "test" });
  await using claims = await connectRedisClaimStore(redis.url);
  const note = noteTool(async (what, signal) => {
    runs.push(what);
    signal.addEventListener("abort", () => aborted.push(what));
    await released.passed;
  });
  await using _notes = await serveTools(bus, { tools: [note] }, { service: "notes", claims });
  await using users = await hearReplies(bus);
  const env = {
    BUS_URL: broker.url,
    REDIS_URL: redis.url,
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    SHUTDOWN_GRACE_MS: "6000",
  };
  await using first = await startService("agent", env);
  await users.ask("a", "do it");
  await expect.poll(() => runs, WAIT).toEqual(["it"]);
  await using _second = await startService("agent", env);

  first.kill("SIGTERM");
  expect(await first.ended).toBe(0);
  released.open();

  await expect
    .poll(() => users.finals(), WAIT)
    .toEqual([expect.objectContaining({ correlationId: "do it", content: "Done." })]);
  expect([runs, aborted, model.requests.length]).toEqual([["it"], [], 2]);
});

const POLICY = `
identity: verified
callers: { alice: { allow: [agent__*, who_am_i] }, mallory: { allow: [agent__*] } }
services: { agent: { topic: tool.invoke.agent }, names: { topic: tool.invoke.names } }
delegates: [agent]
`;

test.concurrent("where senders are verified, the sender is the caller whatever the message says, and hears the replies alone", {
  timeout: 120_000,
}, async ({ expect }) => {
  await using model = await startModelServer((request) => {
    const said = request.messages.findLast(({ role }) => role === "tool")?.text;
    return said === undefined ? { toolCalls: [{ name: "who_am_i" }] } : { text: said };
  });
  await using broker = await verifiedHost(POLICY);
  using folder = temporaryFolder();
  const connect = (user: string): Promise<Bus> => connectBus(broker.urlOf(user), { name: user, identity: "verified" });
  await using names = await connect("names");
  await using _names = await serveTools(names, whoTool("who_am_i"), { service: "names", policy: broker.policy });
  const env = {
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    POLICY_FILE: folder.write("policy.yaml", POLICY),
  };
  await using _agent = await startService("agent", { ...env, BUS_URL: broker.urlOf("agent") });
  await using alices = await connect("alice");
  await using mallorys = await connect("mallory");
  await using alice = await hearReplies(alices, "user.response.alice");
  await using mallory = await hearReplies(mallorys, "user.response.mallory");

  await alice.ask("a", "mine", { source: "alice", userId: "alice", replyTo: "user.response" });
  await mallory.ask("a", "hers", { source: "mallory", userId: "mallory", replyTo: "user.response.alice" });
  await mallory.ask("a", "not allowed", { source: "mallory", userId: "mallory", replyTo: undefined });

  await expect
    .poll(() => [alice.finals(), mallory.finals()], WAIT)
    .toEqual([
      [expect.objectContaining({ correlationId: "mine", content: "alice" })],
      [expect.objectContaining({ correlationId: "not allowed", content: expect.stringContaining("who_am_i") })],
    ]);
  await expect.poll(async () => (await alices.inspect("agent.user", "parked"))?.messages, WAIT).toBe(1);
});

/** What the user has said last. */
const saidIn = ({ messages }: ModelServerRequest): string =>
  messages.findLast(({ role }) => role === "user")?.text ?? "";
/** Tells whether the request has a result of a call that the last message has led to. */
const hasResult = ({ messages }: ModelServerRequest): boolean =>
  messages.findLastIndex(({ role }) => role === "tool") > messages.findLastIndex(({ role }) => role === "user");

/** A tool with effects: each run of it counts. */
function noteTool(run: (what: string, signal: AbortSignal) => Promise<void>) {
  const validateInput = Object.assign((value: unknown): value is { what: string } => typeof value === "object", {
    errors: null,
  });
  const inputSchema = { type: "object", properties: { what: { type: "string" } } };
  const definition: ToolDefinition<{ what: string }> = {
    name: "note_down",
    description: "Note something.",
    inputSchema,
    readOnly: false,
    idempotent: false,
    validateInput,
  };
  return defineTool(definition, async ({ what }, { signal }) => {
    await run(what, signal);
    return "noted";
  });
}
