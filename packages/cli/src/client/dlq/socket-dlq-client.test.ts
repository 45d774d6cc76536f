import { join } from "node:path";
import { type Bus, createMemoryBus, DeadLetterError } from "@rockbot/bus";
import {
  createEnvelope,
  type Envelope,
  encodeMessage,
  messages,
  newId,
  type ToolDefinition,
  type Validator,
} from "@rockbot/contracts";
import type { DlqEvent, DlqRequest } from "@rockbot/gateway/dlq";
import { busServices } from "@rockbot/services";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { ownSocket } from "../../runtime/own-socket.ts";
import { serveSocket } from "../../runtime/serve-socket.ts";
import type { DlqClient } from "./dlq-client.ts";
import { openSocketDlqClient } from "./socket-dlq-client.ts";

const SERVICE = "effects";
const TOPIC = "tool.invoke.effects";
const WAIT = { timeout: 10_000 };

/** A socket of a process with this bus, and a client of it. */
async function open(bus: Bus) {
  const started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const socket = ownSocket({ ROCKBOT_RUNTIME_DIR: join(folder.path, "run") });
  socket.makeFolder();
  const caller = started.use(await createToolCaller(bus, { agent: "cli", results: "copy" }));
  started.use(await serveSocket(socket, { bus, caller }, { drainMs: 1_000, signal: new AbortController().signal }));
  const client = started.use(openSocketDlqClient(socket.path));
  return { path: socket.path, client, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

async function run(client: DlqClient, request: DlqRequest): Promise<DlqEvent[]> {
  const events: DlqEvent[] = [];
  await client.run(request, (event) => void events.push(event), new AbortController().signal);
  return events;
}

function callOf(word: string): Envelope {
  const toolCallId = newId();
  const body = encodeMessage("ToolInvokeRequest", {
    toolCallId,
    toolName: "effect",
    arguments: JSON.stringify({ word }),
    sessionId: null,
  });
  return createEnvelope({
    topic: TOPIC,
    type: messages.ToolInvokeRequest.type,
    source: "agent",
    body,
    messageId: toolCallId,
    correlationId: toolCallId,
  });
}

async function park(bus: Bus, parked: readonly Envelope[]): Promise<void> {
  await using _ = await bus.subscribe({ name: SERVICE, topics: [TOPIC] }, async () => {
    throw new DeadLetterError("not now\u001b[2J");
  });
  for (const message of parked) await bus.publish(message);
  await expect.poll(async () => (await bus.inspect(SERVICE, "parked"))?.messages, WAIT).toBe(parked.length);
}

const definition: ToolDefinition<{ readonly word: string }> = {
  name: "effect",
  description: "Has an effect.",
  inputSchema: { type: "object" },
  readOnly: false,
  idempotent: false,
  validateInput: ((value: unknown) => typeof value === "object") as Validator<{ readonly word: string }>,
};

const serve = (bus: Bus, effect: (word: string) => Promise<string>) =>
  serveTools(
    bus,
    {
      tools: [defineTool(definition, ({ word }) => effect(word))],
      guides: [{ name: "effects", summary: "Effects.", document: "# Effects" }],
    },
    { service: SERVICE },
  );

test("parked messages are listed, shown, played again and purged through the socket", async () => {
  await using bus = createMemoryBus();
  await using socket = await open(bus);
  const { client } = socket;
  const calls = ["one", "two", "three"].map(callOf);
  const ids = calls.map(({ messageId }) => messageId);
  await park(bus, calls);
  const effects: string[] = [];
  await using _ = await serve(bus, async (word) => {
    effects.push(word);
    return `did ${word}`;
  });

  const listed = await run(client, { action: "list", service: undefined, limit: 2 });
  const serving = busServices.filter(({ topic }) => topic !== undefined).map(({ name }) => name as string);
  const ours: readonly object[] = [
    { kind: "service", service: SERVICE, parked: 3 },
    { kind: "parked", id: ids[0], reason: "rejected", why: "not now\u001b[2J", toolName: "effect", source: "agent" },
    { kind: "parked", id: ids[1] },
  ];
  const lists = [...serving, SERVICE]
    .sort()
    .flatMap((service) => (service === SERVICE ? ours : [{ kind: "service", service, parked: null }]));
  expect(listed).toMatchObject([...lists, { kind: "end" }]);
  expect(await run(client, { action: "show", service: SERVICE, id: ids[1] as string })).toMatchObject([
    { kind: "parked", id: ids[1], topic: TOPIC, body: Buffer.from((calls[1] as Envelope).body).toString() },
    { kind: "end" },
  ]);
  expect(await run(client, { action: "replay", service: SERVICE, id: ids[1], timeoutMs: 10_000 })).toMatchObject([
    { kind: "replayed", id: ids[1], isRemoved: true, answer: { content: "did two", toolCallId: ids[1] } },
    { kind: "end" },
  ]);
  expect(await run(client, { action: "purge", service: SERVICE, id: ids[2] })).toMatchObject([
    { kind: "purged", id: ids[2] },
    { kind: "end" },
  ]);
  expect(await run(client, { action: "replay", service: SERVICE, id: undefined, timeoutMs: 10_000 })).toMatchObject([
    { id: ids[0] },
    { kind: "end" },
  ]);
  expect(await run(client, { action: "list", service: SERVICE, limit: 10 })).toMatchObject([
    { kind: "service", parked: 0 },
    { kind: "end" },
  ]);
  expect(effects).toEqual(["two", "one"]);
});

test("what does not exist is refused in words", async () => {
  await using bus = createMemoryBus();
  await using socket = await open(bus);
  await park(bus, [callOf("one")]);

  expect(await run(socket.client, { action: "list", service: "nobody", limit: 10 })).toEqual([
    { kind: "refusal", isUsage: true, message: expect.stringContaining('There is no service "nobody"') },
  ]);
  expect(await run(socket.client, { action: "purge", service: "nobody", id: undefined })).toMatchObject([
    { kind: "refusal", isUsage: true },
  ]);
  expect(await run(socket.client, { action: "show", service: SERVICE, id: "x" })).toEqual([
    { kind: "refusal", isUsage: true, message: expect.stringContaining('No message "x" is parked for "effects"') },
  ]);
});

test("without any answer the replay stops there, and what was not answered stays parked", async () => {
  await using bus = createMemoryBus();
  await using socket = await open(bus);
  const calls = ["one", "two", "three"].map(callOf);
  await park(bus, calls);
  const nobody = await run(socket.client, { action: "replay", service: SERVICE, id: undefined, timeoutMs: 10_000 });
  expect(nobody).toMatchObject([
    { kind: "replayed", isRemoved: false, trouble: expect.stringContaining('no instance of "effects" runs') },
    { kind: "end", stopped: expect.stringContaining("Start one") },
  ]);
  await using _ = await serve(bus, async (word) => {
    if (word === "two") await new Promise(() => {});
    return word;
  });

  // The service says that its time is over, which may be otherwise next time.
  const slow = await run(socket.client, {
    action: "replay",
    service: SERVICE,
    id: calls[1]?.messageId,
    timeoutMs: 100,
  });
  expect(slow).toMatchObject([{ kind: "replayed", isRemoved: false }, { kind: "end" }]);
  expect((await bus.inspect(SERVICE, "parked"))?.messages).toBe(3);
});

test("an operator who leaves in the middle loses no message", async () => {
  await using bus = createMemoryBus();
  await using socket = await open(bus);
  await park(bus, ["one", "two"].map(callOf));
  const started = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await using _ = await serve(bus, async () => {
    started.resolve();
    await left.promise;
    return "done";
  });
  const leave = new AbortController();
  const replay = socket.client.run(
    { action: "replay", service: SERVICE, id: undefined, timeoutMs: 60_000 },
    () => {},
    leave.signal,
  );
  await started.promise;
  leave.abort(new Error("gone"));
  await expect(replay).rejects.toThrow();

  await expect.poll(async () => (await bus.inspect(SERVICE, "parked"))?.messages, WAIT).toBe(2);
  left.resolve();
  // The call has run all the same; its answer is kept for the next replay.
  await expect
    .poll(() => run(socket.client, { action: "replay", service: SERVICE, id: undefined, timeoutMs: 10_000 }), WAIT)
    .toMatchObject([{ answer: { content: "done" } }, { answer: { content: "done" } }, { kind: "end" }]);
});
