import { type Bus, DeadLetterError } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import {
  createEnvelope,
  type Envelope,
  encodeMessage,
  messages,
  newId,
  type ToolDefinition,
  type Validator,
} from "@rockbot/contracts";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { uniqueName } from "../broker/messages.ts";
import { startProgram } from "./start-service.ts";

const url = await sharedAmqpUrl();
const redisUrl = await sharedRedisUrl();
const WAIT = { timeout: 20_000 };

const definition: ToolDefinition<{ readonly word: string }> = {
  name: "effect",
  description: "Has an effect that must not be had twice.",
  inputSchema: { type: "object" },
  readOnly: false,
  idempotent: false,
  validateInput: ((value: unknown) => typeof (value as { word?: unknown }).word === "string") as Validator<{
    readonly word: string;
  }>,
};

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `rockbot dlq` as a process of its own, over the broker. */
async function dlq(...args: string[]): Promise<Result> {
  await using running = startProgram("packages/cli/src/main.ts", { args: ["dlq", ...args], env: { ROCKBOT_BUS: url } });
  const code = await running.ended;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

const linesOf = ({ stdout }: Result): Record<string, unknown>[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** A service of its own name, whose effects are counted by word; its claims are in Redis. */
async function effectService(bus: Bus, service: string, effects: Map<string, number>): Promise<AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const claims = started.use(await connectRedisClaimStore(redisUrl, { prefix: service }));
  const effect = defineTool(definition, async ({ word }) => {
    effects.set(word, (effects.get(word) ?? 0) + 1);
    return `did ${word}`;
  });
  const set = { tools: [effect], guides: [{ name: "effects", summary: "Effects.", document: "# Effects" }] };
  started.use(await serveTools(bus, set, { service, claims }));
  return started.move();
}

function callOf(service: string, word: string, replyTo: string): Envelope {
  const toolCallId = newId();
  return createEnvelope({
    topic: `tool.invoke.${service}`,
    type: messages.ToolInvokeRequest.type,
    source: "agent",
    body: encodeMessage("ToolInvokeRequest", {
      toolCallId,
      toolName: "effect",
      arguments: JSON.stringify({ word }),
      sessionId: null,
    }),
    messageId: toolCallId,
    correlationId: toolCallId,
    replyTo,
    headers: { "rb-timeout-ms": "60000" },
  });
}

async function park(bus: Bus, service: string, calls: readonly Envelope[], why: string): Promise<void> {
  const options = { name: service, topics: [`tool.invoke.${service}`], concurrency: 1 };
  await using _ = await bus.subscribe(options, async () => {
    throw new DeadLetterError(why);
  });
  await Promise.all(calls.map((call) => bus.publish(call)));
  await expect.poll(async () => (await bus.inspect(service, "parked"))?.messages, WAIT).toBe(calls.length);
}

test("a hundred parked calls are played again: those that have run have no second effect, the others have one", {
  timeout: 90_000,
}, async () => {
  await using bus = await connectBus(url);
  const service = uniqueName();
  const replyTo = `tool.result.${service}`;
  const effects = new Map<string, number>();
  const answers: Envelope[] = [];
  await using _answers = await bus.subscribe(
    { name: `answers-${service}`, topics: [replyTo], kind: "copy" },
    async (answer) => void answers.push(answer),
  );
  const calls = Array.from({ length: 100 }, (_, index) => callOf(service, `word ${index}`, replyTo));
  {
    await using _ = await effectService(bus, service, effects);
    for (const call of calls.slice(0, 50)) await bus.publish(call);
    await expect.poll(() => answers.length, WAIT).toBe(50);
  }
  await park(bus, service, calls, "a look at the handler's \u001b[31mtrouble");
  const nobody = await dlq("replay", service, "--all");
  await using _running = await effectService(bus, service, effects);
  const listed = await dlq("list", service, "--json");
  const replayed = await dlq("replay", service, "--all", "--json");

  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining("Start one and try again") });
  expect(
    linesOf(listed)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(calls.map(({ messageId }) => messageId).sort());
  expect(replayed).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("100 answered and removed, 0 still parked"),
  });
  const contents = linesOf(replayed).map(({ answer }) => (answer as { content: string }).content);
  expect(contents.sort()).toEqual(calls.map((_, index) => `did word ${index}`).sort());
  expect(effects.size).toBe(100);
  expect([...effects.values()].every((count) => count === 1)).toBe(true);
  expect(answers.length).toBe(50); // the callers of then have heard nothing more
  expect((await bus.inspect(service, "parked"))?.messages).toBe(0);
});

test("parked messages are shown without what could harm a terminal, and purged one by one or all", {
  timeout: 60_000,
}, async () => {
  await using bus = await connectBus(url);
  const service = uniqueName();
  const calls = ["one\u001b[2J\u202e", "two", "three"].map((word) => callOf(service, word, "no.topic.for.results"));
  await park(bus, service, calls, "not\u001b[31m\nnow");
  const [id = ""] = calls.map(({ messageId }) => messageId);
  const listed = await dlq("list", service, "--limit", "2");
  const shown = await dlq("show", service, id);
  const asJson = await dlq("show", service, id, "--json");
  const refused = await dlq("purge", service, "--all");
  const one = await dlq("purge", service, id, "--yes");
  const rest = await dlq("purge", service, "--all", "--yes", "--json");
  const none = await dlq("show", service, id);
  const unknown = await dlq("list", `${service}x`);

  expect(listed.stdout.trim().split("\n").length).toBe(2);
  expect(listed).toMatchObject({ code: 0, stderr: expect.stringMatching(/3 parked.*2 of them are shown/) });
  expect(shown.stdout).toMatch(/^why +not\\u001b\[31m\\nnow$/m);
  for (const { stdout } of [listed, shown, asJson])
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(linesOf(asJson)).toMatchObject([
    { id, reason: "rejected", why: "not\u001b[31m\nnow", replyTo: "no.topic.for.results", timeoutMs: "60000" },
  ]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes: missing") });
  expect(one).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect(linesOf(rest).length).toBe(2);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("No message") });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no service") });
  expect(
    [listed, shown, one, rest, none].every(({ stderr }) => !stderr.includes(new URL(url).password || "no password")),
  ).toBe(true);
});
