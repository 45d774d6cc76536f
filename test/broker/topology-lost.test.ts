import { setTimeout as sleep } from "node:timers/promises";
import { BusUnavailableError, type Logger } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import type { ToolError, Validator } from "@rockbot/contracts";
import { ownVirtualHost } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools, type Tool } from "@rockbot/tools";
import type { Channel } from "amqplib";
import { test } from "vitest";
import { textMessage, textOf } from "./messages.ts";
import { openRawChannel } from "./raw-channel.ts";
import { verifiedHost } from "./verified-broker.ts";

/** What was declared is looked after each 5 to 10 seconds. */
const WAIT = { timeout: 30_000, interval: 20 };

const VERIFIED = `
identity: verified
callers: { agent: { allow: ["note"] } }
services: { notes: { topic: tool.invoke.notes, tools: ["note"] } }
`;

interface Note {
  readonly n: number;
}

const GUIDE = { name: "notes", summary: "How to note.", document: "# Notes" };

/** A tool with effects. */
const noteTool = (note: (input: Note) => Promise<string>): Tool =>
  defineTool(
    {
      name: "note",
      description: "Notes a number.",
      inputSchema: { type: "object" },
      readOnly: false,
      idempotent: false,
      validateInput: ((value: unknown) => typeof (value as { n?: unknown }).n === "number") as Validator<Note>,
    },
    note,
  );

/** A log that keeps its errors, and hands each over at once. */
function errorLog(onError: (fields: string) => void = () => {}): { readonly log: Logger; readonly errors: string[] } {
  const errors: string[] = [];
  const ignore = () => {};
  const error = (fields: object) => {
    errors.push(JSON.stringify(fields));
    onError(JSON.stringify(fields));
  };
  return { errors, log: { debug: ignore, info: ignore, warn: ignore, error } };
}

const KINDS = ["service", "result", "copy"] as const;

test.concurrent("an exchange that is deleted is there again, with what was bound to it, and the bus says so", {
  timeout: 90_000,
}, async ({ expect }) => {
  await using broker = await ownVirtualHost();
  const { log, errors } = errorLog();
  await using serving = await connectBus(broker.url, { log });
  await using raw = await openRawChannel(broker.url);
  await using stack = new AsyncDisposableStack();
  const received: string[] = [];
  for (const kind of KINDS) {
    stack.use(
      await serving.subscribe(
        { name: kind, topics: [`${kind}.*`], kind },
        async (message) => void received.push(`${kind} ${textOf(message)}`),
      ),
    );
  }

  // Nobody publishes: only who looks finds out.
  await raw.channel.deleteExchange("rockbot");
  await expect.poll(() => errors.join("\n"), WAIT).toMatch(/exchange was missing/);
  await expect.poll(() => serving.isReady, WAIT).toBe(true);
  await using calling = await connectBus(broker.url);
  for (const kind of KINDS) await calling.publish(textMessage(`${kind}.x`, "first"), { mandatory: true });
  await expect.poll(() => received.toSorted(), WAIT).toEqual(KINDS.map((kind) => `${kind} first`).sort());

  // Whoever publishes finds out first, and declares it before the subscriber has looked.
  await raw.channel.deleteExchange("rockbot");
  for (const kind of KINDS) {
    await expect
      .poll(() => calling.publish(textMessage(`${kind}.x`, "second"), { mandatory: true }).catch(() => "not yet"), WAIT)
      .toBeUndefined();
    await expect.poll(() => received, WAIT).toContain(`${kind} second`);
  }
});

test.concurrent("the bus is unready from the publish that finds its exchange deleted until all is bound again, and the message is taken", {
  timeout: 60_000,
}, async ({ expect }) => {
  await using broker = await ownVirtualHost();
  const isReadyWhenSaid: boolean[] = [];
  const { log } = errorLog((reason) => {
    if (/exchange was missing/.test(reason)) isReadyWhenSaid.push(bus.isReady);
  });
  await using bus = await connectBus(broker.url, { log });
  await using raw = await openRawChannel(broker.url);
  const received: string[] = [];
  await using _ = await bus.subscribe(
    { name: "served", topics: ["served"] },
    async (message) => void received.push(textOf(message)),
  );
  await raw.channel.deleteExchange("rockbot");
  await bus.publish(textMessage("served", "not to blame"), { timeoutMs: 10_000 });
  expect(isReadyWhenSaid).toEqual([false]);
  await expect.poll(() => bus.isReady, WAIT).toBe(true);
  await bus.publish(textMessage("served", "after"), { mandatory: true });
  await expect.poll(() => received, WAIT).toContain("after");
});

test.concurrent("a binding that is deleted is there again", { timeout: 90_000 }, async ({ expect }) => {
  await using broker = await ownVirtualHost();
  await using bus = await connectBus(broker.url);
  await using raw = await openRawChannel(broker.url);
  const received: string[] = [];
  await using _service = await bus.subscribe(
    { name: "service", topics: ["service"] },
    async (message) => void received.push(textOf(message)),
  );
  await using _result = await bus.subscribe(
    { name: "result", topics: ["result"], kind: "result" },
    async (message) => void received.push(textOf(message)),
  );
  for (const name of ["service", "result"]) {
    await raw.channel.unbindQueue(`rockbot.${name}.v1`, "rockbot", name);
    await expect
      .poll(() => bus.publish(textMessage(name, name), { mandatory: true }).catch(() => "nobody"), WAIT)
      .toBeUndefined();
  }
  await expect.poll(() => received, WAIT).toEqual(["service", "result"]);
});

test.concurrent.for<[string, (channel: Channel) => Promise<unknown>]>([
  ["the exchange", (channel: Channel) => channel.deleteExchange("rockbot")],
  [
    "what leads to the service",
    (channel: Channel) => channel.unbindQueue("rockbot.notes.v1", "rockbot", "tool.invoke.notes"),
  ],
  [
    "what leads to the caller",
    (channel: Channel) => channel.unbindQueue("rockbot.result.agent.v1", "rockbot", "tool.result.agent"),
  ],
])(
  "calls that are out while %s is deleted are answered, none after two effects",
  { timeout: 150_000 },
  async ([_what, remove], { expect }) => {
    await using broker = await ownVirtualHost();
    await using serving = await connectBus(broker.url);
    await using calling = await connectBus(broker.url);
    const effects: number[] = [];
    const note = async ({ n }: Note) => {
      effects.push(n);
      await sleep(200);
      return "noted";
    };
    await using _served = await serveTools(serving, { tools: [noteTool(note)], guides: [GUIDE] }, { service: "notes" });
    await using caller = await createToolCaller(calling, { agent: "agent" });
    await caller.discovered();
    await using raw = await openRawChannel(broker.url);

    const calls: Promise<string>[] = [];
    for (let n = 0; n < 48; n++) {
      if (n === 40) await remove(raw.channel);
      const call = caller.call("note", { n }, { timeoutMs: 90_000 });
      calls.push(
        call.then(
          ({ content }) => content ?? "",
          (error: ToolError) => error.code,
        ),
      );
      await sleep(50);
    }
    const outcomes = await Promise.all(calls);
    // A request that was sent and not confirmed is sent once more, and these claims are too young to say whether the
    // first was taken.
    expect(outcomes.filter((outcome) => outcome !== "noted" && outcome !== "outcome_unknown")).toEqual([]);
    expect(outcomes.filter((outcome) => outcome === "noted").length).toBeGreaterThan(40);
    expect(effects.length).toBe(new Set(effects).size);
    expect(outcomes.flatMap((outcome, n) => (outcome === "noted" && !effects.includes(n) ? [n] : []))).toEqual([]);
  },
);

test.concurrent("where users may declare no exchange, one that is deleted is there again, with all that was bound, once the definitions are imported again", {
  timeout: 90_000,
}, async ({ expect }) => {
  await using broker = await verifiedHost(VERIFIED);
  const { log, errors } = errorLog();
  await using serving = await connectBus(broker.urlOf("notes"), { identity: "verified", log });
  await using calling = await connectBus(broker.urlOf("agent"), { identity: "verified" });
  await using _served = await serveTools(
    serving,
    { tools: [noteTool(async () => "noted")], guides: [GUIDE] },
    { service: "notes", policy: broker.policy },
  );
  await using caller = await createToolCaller(calling, { agent: "agent", policy: broker.policy });
  await caller.discovered();
  await using raw = await openRawChannel(broker.url);
  await raw.channel.deleteExchange("rockbot");
  await expect.poll(() => serving.isReady, WAIT).toBe(false);
  await expect.poll(() => errors.join("\n"), WAIT).toMatch(/ACCESS_REFUSED/);

  await broker.importAgain();
  const outcome = await caller.call("note", { n: 1 }, { timeoutMs: 50_000 }).then(
    ({ content }) => content,
    (error: ToolError) => error.code,
  );
  expect(["noted", "outcome_unknown"]).toContain(outcome); // unknown: it was sent twice, as the first was not confirmed
  await expect.poll(() => serving.isReady && calling.isReady, WAIT).toBe(true);
  expect(await caller.call("note", { n: 2 }, { timeoutMs: 50_000 })).toMatchObject({ content: "noted" });
});

test.concurrent("while its user's permissions are revoked the bus is unready and refuses in words, and goes on by itself when it has them again", {
  timeout: 90_000,
}, async ({ expect }) => {
  await using broker = await ownVirtualHost();
  const { log, errors } = errorLog();
  await using bus = await connectBus(broker.url, { log });
  const received: string[] = [];
  await using _ = await bus.subscribe(
    { name: "served", topics: ["served"] },
    async (message) => void received.push(textOf(message)),
  );
  const permit = (what: string) =>
    broker.importDefinitions({
      permissions: [{ user: "test", vhost: broker.name, configure: what, write: what, read: what }],
    });
  await permit("^$");
  await expect.poll(() => bus.isReady, WAIT).toBe(false);
  await expect.poll(() => errors.join("\n"), WAIT).toMatch(/ACCESS_REFUSED/);
  const refused = bus.publish(textMessage("served", "refused"), { timeoutMs: 500 });
  await expect(refused).rejects.toBeInstanceOf(BusUnavailableError);
  await expect(refused).rejects.toThrow(/ACCESS_REFUSED/);

  await permit(".*");
  await expect.poll(() => bus.isReady, WAIT).toBe(true);
  await bus.publish(textMessage("served", "granted"), { mandatory: true });
  await expect.poll(() => received, WAIT).toEqual(["granted"]);
});
