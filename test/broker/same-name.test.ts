import { randomBytes } from "node:crypto";
import { type Bus, createMemoryBus } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createEnvelope } from "@rockbot/contracts";
import { sharedAmqpUrl } from "@rockbot/testing";
import { createToolCaller, serveTools, type ToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { openRawChannel } from "./raw-channel.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect, POLICY, whoTool } from "./verified-system.ts";

const CALLS = 50;
/** Each call has an answer at once: none waits for this. */
const TIMEOUT_MS = 20_000;
const url = await sharedAmqpUrl();
const newName = () => `same-${randomBytes(4).toString("hex")}`;

/** Buses that meet: in one process they are one. */
const kinds: readonly [string, () => Promise<() => Promise<Bus>>][] = [
  [
    "in memory",
    async () => {
      const bus = createMemoryBus();
      return async () => bus;
    },
  ],
  ["at RabbitMQ", async () => () => connectBus(url)],
];

const toolOf = (name: string): string => `who_${name.replace("-", "_")}`;

const serve = (bus: Bus, name: string) => serveTools(bus, whoTool(toolOf(name)), { service: name });

/** Makes all callers call at the same time. @returns how many calls ended how */
async function tally(callers: readonly ToolCaller[], tool: string): Promise<Record<string, number>> {
  const calls = callers.flatMap((caller) =>
    Array.from({ length: CALLS }, () => caller.call(tool, {}, { timeoutMs: TIMEOUT_MS })),
  );
  const ends = await Promise.all(
    calls.map((call) =>
      call.then(
        () => "answered",
        ({ code }: { readonly code: string }) => code,
      ),
    ),
  );
  return Object.fromEntries([...new Set(ends)].map((end) => [end, ends.filter((each) => each === end).length]));
}

const allAnswered = (callers: number) => ({ answered: callers * CALLS });

test.each(kinds)(
  "four callers of one agent get each their own answers, %s",
  { timeout: 60_000 },
  async (_kind, open) => {
    const connected = await open();
    await using stack = new AsyncDisposableStack();
    const name = newName();
    stack.use(await serve(stack.use(await connected()), name));
    const callers: ToolCaller[] = [];
    for (let count = 0; count < 4; count++)
      callers.push(stack.use(await createToolCaller(stack.use(await connected()), { agent: `agent-${name}` })));
    expect(await tally(callers, toolOf(name))).toEqual(allAnswered(4));
  },
);

test.each(kinds)(
  "callers of one agent that start in the same moment get each their own answers, %s",
  { timeout: 60_000 },
  async (_kind, open) => {
    const connected = await open();
    await using stack = new AsyncDisposableStack();
    const name = newName();
    stack.use(await serve(stack.use(await connected()), name));
    const buses = await Promise.all(Array.from({ length: 4 }, async () => stack.use(await connected())));
    const callers = await Promise.all(
      buses.map(async (bus) => stack.use(await createToolCaller(bus, { agent: `agent-${name}` }))),
    );
    expect(await tally(callers, toolOf(name))).toEqual(allAnswered(4));
  },
);

test.each(kinds)(
  "two callers that are given one instance get their answers, and a third is told at once what to do, %s",
  { timeout: 60_000 },
  async (_kind, open) => {
    const connected = await open();
    await using stack = new AsyncDisposableStack();
    const name = newName();
    const tool = toolOf(name);
    stack.use(await serve(stack.use(await connected()), name));
    const callers: ToolCaller[] = [];
    for (let count = 0; count < 3; count++)
      callers.push(
        stack.use(await createToolCaller(stack.use(await connected()), { agent: `agent-${name}`, instance: "same" })),
      );
    const third = callers.pop();
    expect(await tally(callers, tool)).toEqual(allAnswered(2));
    await expect(third?.call(tool, {}, { timeoutMs: TIMEOUT_MS })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("Give each process its own `instance`"),
      details: { mayHaveRun: false },
    });
    expect(await tally(callers, tool)).toEqual(allAnswered(2));
    await callers[0]?.[Symbol.asyncDispose]();
    await expect
      .poll(() => third?.call(tool, {}, { timeoutMs: TIMEOUT_MS }).then(() => "answered", String), { timeout: 30_000 })
      .toBe("answered");
    expect(await tally([callers[1] as ToolCaller, third as ToolCaller], tool)).toEqual(allAnswered(2));
  },
);

test("a process of a former release, which shares its queue with whoever comes, keeps its answers beside one of now", {
  timeout: 60_000,
}, async () => {
  await using bus = await connectBus(url);
  const name = newName();
  await using _service = await serve(bus, name);
  const agent = `agent-${name}`;
  await using raw = await openRawChannel(url);
  const queue = `rockbot.result.${agent}.v1`;
  const heard: string[] = [];
  await raw.channel.assertQueue(queue, {
    durable: true,
    arguments: { "x-queue-type": "classic", "x-expires": 600_000 },
  });
  await raw.channel.bindQueue(queue, "rockbot", `tool.result.${agent}`);
  await raw.channel.consume(queue, (message) => void heard.push(message?.content.toString() ?? ""), { noAck: true });

  await using unnamed = await createToolCaller(bus, { agent });
  expect(await tally([unnamed], toolOf(name))).toEqual(allAnswered(1));
  const sent = Array.from({ length: CALLS }, (_, index) => String(index));
  for (const text of sent)
    await bus.publish(
      createEnvelope({ topic: `tool.result.${agent}`, type: "t", source: name, body: Buffer.from(text) }),
      { mandatory: true },
    );
  await expect.poll(() => heard, { timeout: 10_000 }).toEqual(sent);
});

test("where senders are verified, callers of one user get each their own answers, as numbered instances", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  await using service = await connect(broker, "echoes");
  await using _tools = await serveTools(service, whoTool("echo_who"), { service: "echoes", policy: broker.policy });
  await using stack = new AsyncDisposableStack();
  const callers: ToolCaller[] = [];
  for (let count = 0; count < 4; count++) {
    const bus = stack.use(await connect(broker, "researcher"));
    callers.push(stack.use(await createToolCaller(bus, { agent: "researcher", policy: broker.policy })));
  }
  expect(await tally(callers, "echo_who")).toEqual(allAnswered(4));
  const records = await Promise.all(callers.map(async (caller) => (await caller.journal.recent(1))[0]?.caller));
  expect(new Set(records).size).toBe(callers.length);
  for (const address of records.slice(1)) expect(address).toMatch(/^researcher\.\d+$/);

  const [one, other] = [stack.use(await connect(broker, "researcher")), stack.use(await connect(broker, "researcher"))];
  const both = await Promise.all(
    [one, other].map((bus) => createToolCaller(bus, { agent: "researcher", instance: "7", policy: broker.policy })),
  );
  for (const caller of both) stack.use(caller);
  expect(await tally(both, "echo_who")).toEqual(allAnswered(2));
});
