import { type Bus, createMemoryBus, DeadLetterError, RequestTimeoutError } from "@rockbot/bus";
import { createEnvelope, type Envelope, Header } from "@rockbot/contracts";
import { createMemoryBlobStore } from "@rockbot/records/blobs";
import { createMemoryClaimStore } from "@rockbot/records/claims";
import { expect, test } from "vitest";
import { serveTools } from "../serve/serve-tools.ts";
import { testSet, testTool } from "../test-tools.ts";
import { createReplayer, ReplayRefusedError } from "./replay-parked.ts";
import { createToolCaller } from "./tool-caller.ts";

const options = { service: "effects", topic: "tool.invoke.effects" };
const timeoutMs = 60_000;
const WAIT = { timeout: 10_000 };

/** Every message on the service's topic from now on, as published. */
async function tap(bus: Bus, topic: string): Promise<Envelope[]> {
  const messages: Envelope[] = [];
  await bus.subscribe({ name: "tap", topics: [topic], kind: "copy" }, async (message) => void messages.push(message));
  return messages;
}

/** Publishes the requests while the service does nothing but reject, so that they are parked. */
async function park(bus: Bus, messages: readonly Envelope[]): Promise<void> {
  await using _ = await bus.subscribe({ name: options.service, topics: [options.topic] }, async () => {
    throw new DeadLetterError("no");
  });
  for (const message of messages) await bus.publish(message);
  await expect.poll(async () => (await bus.inspect(options.service, "parked"))?.messages, WAIT).toBe(messages.length);
}

async function parkedOf(bus: Bus): Promise<Envelope[]> {
  const messages: Envelope[] = [];
  await bus.visitParked(options.service, async ({ message }) => {
    messages.push(message);
    return "keep";
  });
  return messages;
}

test("a call that has run gives its answer again, to the operator alone, and has no second effect", async () => {
  await using bus = createMemoryBus();
  await using claims = createMemoryClaimStore();
  const requests = await tap(bus, options.topic);
  let effects = 0;
  const set = testSet(testTool("effect", async () => `effect ${++effects}`));
  const answers: Envelope[] = [];
  const first = await serveTools(bus, set, { ...options, claims });
  await using agent = await createToolCaller(bus, { agent: "agent" });
  await agent.discovered();
  const given = await agent.call("effect", {});
  await bus.subscribe(
    { name: "agents", topics: ["tool.result.agent"], kind: "copy" },
    async (message) => void answers.push(message),
  );
  await first[Symbol.asyncDispose]();
  await park(bus, [...requests]);
  await using _again = await serveTools(bus, set, { ...options, claims });
  await using replayer = createReplayer(bus);
  const [message] = await parkedOf(bus);

  expect(await replayer.replay(message as Envelope, options.service, { timeoutMs })).toEqual({
    reply: given,
    isFinal: true,
  });
  expect([effects, answers.length]).toEqual([1, 0]);
});

test("a large answer of a call that is played again comes to the operator whole, though its caller would have had it from the blob store", async () => {
  await using bus = createMemoryBus();
  await using blobs = createMemoryBlobStore();
  const requests = await tap(bus, options.topic);
  const text = "x".repeat(600_000);
  const first = await serveTools(bus, testSet(testTool("effect", async () => text)), { ...options, blobs });
  await using agent = await createToolCaller(bus, { agent: "agent", blobs });
  await agent.discovered();
  await agent.call("effect", {});
  await first[Symbol.asyncDispose]();
  await park(bus, [{ ...(requests[0] as Envelope), messageId: "another", correlationId: "another" }]);
  await using _again = await serveTools(bus, testSet(testTool("effect", async () => text)), { ...options, blobs });
  await using replayer = createReplayer(bus);
  const [message] = await parkedOf(bus);
  expect(message?.headers).toHaveProperty(Header.AcceptBlob);

  expect(await replayer.replay(message as Envelope, options.service, { timeoutMs })).toMatchObject({
    reply: { content: text },
  });
});

test("what a caller says of an operator is not the operator's word when the call is played again", async () => {
  await using bus = createMemoryBus();
  const requests = await tap(bus, options.topic);
  await using _services = await serveTools(bus, testSet(testTool("effect", async () => "done")), options);
  await using agent = await createToolCaller(bus, { agent: "agent" });
  await agent.discovered();
  await agent.call("effect", {}, { operator: "ada" });
  const [sent] = requests as [Envelope];
  expect(sent.headers[Header.Operator]).toBe("ada");
  await using replayer = createReplayer(bus);
  await replayer.replay(sent, options.service, { timeoutMs });
  expect(requests[1]?.headers).not.toHaveProperty(Header.Operator);
});

test("a request that expired runs when it is played again, within a budget of its own", async () => {
  await using bus = createMemoryBus();
  const requests = await tap(bus, options.topic);
  let leftMs = 0;
  const set = testSet(
    testTool("effect", async (_input, { deadline }) => {
      leftMs = deadline - performance.now();
      return "ran";
    }),
  );
  await using agent = await createToolCaller(bus, { agent: "agent" });
  const first = await serveTools(bus, set, options);
  await agent.discovered();
  await agent.call("effect", {}, { toolCallId: "spent", timeoutMs: 10_000 });
  await first[Symbol.asyncDispose]();
  const [request] = requests as [Envelope];
  expect([request.headers["rb-timeout-ms"], request.ttlMs]).toEqual([
    undefined,
    expect.toSatisfy((ms: number) => ms > 5_000 && ms <= 10_000),
  ]);
  const late = Buffer.from(Buffer.from(request.body).toString().replace("spent", "late"));
  await bus.publish({
    ...request,
    messageId: "late",
    body: late,
    headers: { ...request.headers, "rb-timeout-ms": "10000" },
    ttlMs: 0,
  });
  await using _again = await serveTools(bus, set, options);
  await expect.poll(async () => (await parkedOf(bus)).length, WAIT).toBe(1);
  await using replayer = createReplayer(bus);
  const [message] = await parkedOf(bus);

  expect(await replayer.replay(message as Envelope, options.service, { timeoutMs })).toMatchObject({
    reply: { toolCallId: "late", content: "ran" },
  });
  expect(leftMs).toBeGreaterThan(10_000);
});

test("a request that cannot be read is answered in words, and one that nobody can answer is refused", async () => {
  await using bus = createMemoryBus();
  await park(bus, [
    createEnvelope({
      topic: options.topic,
      type: "Odd",
      source: "stranger",
      replyTo: "no.topic.for.results",
      body: Buffer.from("{"),
    }),
  ]);
  await using replayer = createReplayer(bus);
  const [message] = (await parkedOf(bus)) as [Envelope];
  const nobody = replayer.replay(message, options.service, { timeoutMs });
  await expect(nobody).rejects.toBeInstanceOf(ReplayRefusedError);
  await expect(nobody).rejects.toThrow('no instance of "effects" runs');
  await using _ = await serveTools(bus, testSet(), options);

  const ofAnother = replayer.replay({ ...message, userId: "verified" }, options.service, { timeoutMs });
  await expect(ofAnother).rejects.toBeInstanceOf(ReplayRefusedError);
  expect(await replayer.replay(message, options.service, { timeoutMs })).toMatchObject({
    reply: { code: "invalid_arguments" },
    isFinal: true,
  });
});

test("an answer that may be another next time is not the last word; nor is silence, which cancels nothing", async () => {
  await using bus = createMemoryBus();
  await using _ = await bus.subscribe(
    { name: options.service, topics: [options.topic] },
    async ({ body, replyTo = "", correlationId }) => {
      if (Buffer.from(body).toString() === "silence") return;
      const error = { toolCallId: "c", toolName: "effect", code: "unavailable", message: "later", isRetryable: true };
      await bus.publish(
        createEnvelope({
          topic: replyTo,
          type: "RockBot.Tools.ToolError",
          source: "effects",
          correlationId,
          body: Buffer.from(JSON.stringify(error)),
        }),
      );
    },
  );
  const cancels = await tap(bus, "tool.cancel.effects");
  await using replayer = createReplayer(bus);
  const replay = (text: string, ms: number) =>
    replayer.replay(
      createEnvelope({ topic: options.topic, type: "t", source: "agent", body: Buffer.from(text) }),
      options.service,
      { timeoutMs: ms },
    );

  expect(await replay("busy", timeoutMs)).toMatchObject({ reply: { code: "unavailable" }, isFinal: false });
  await expect(replay("silence", 50)).rejects.toBeInstanceOf(RequestTimeoutError);
  expect(cancels).toEqual([]);
});
