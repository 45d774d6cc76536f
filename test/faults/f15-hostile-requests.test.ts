import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { connect } from "amqplib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type RunningProcess, startEchoService } from "../services/start-service.ts";
import { record, seed } from "./figures.ts";

const REQUESTS = 10_000;
const BATCH = 500;
/** After 10 000 requests of about a kilobyte none may stay; caches and remembered ids are bounded, and take some. */
const HEAP_GROWTH_KB = 6_000;
/** RabbitMQ 4 takes no larger message. */
const LARGEST_BYTES = 16 * 1024 * 1024;
const WAIT = { timeout: 60_000, interval: 100 };

test(`F15: a service answers or dead-letters ${REQUESTS} hostile requests, counts them, and lives, its memory flat`, {
  timeout: 180_000,
}, async () => {
  await using broker = await ownVirtualHost(); // its queues are counted, so nobody else may use them
  await using service = await startEchoService(broker.url);
  const model = await connect(broker.url, { noDelay: true });
  model.on("error", () => {}); // a failing test takes its broker away
  const channel = await model.createConfirmChannel();
  channel.on("error", () => {}); // the confirm that does not come says the same
  await channel.assertExchange("rockbot", "topic", { durable: true }); // as every peer does
  const { queue } = await channel.assertQueue("", { exclusive: true });
  await channel.bindQueue(queue, "rockbot", "tool.result.fuzz");
  let answers = 0;
  await channel.consume(queue, () => answers++, { noAck: true });

  const requests = fc.sample(hostileRequest, { numRuns: REQUESTS, seed });
  const heapKb: number[] = [];
  for (let from = 0; from < REQUESTS; from += BATCH) {
    for (const [index, { body, properties }] of requests.slice(from, from + BATCH).entries()) {
      // Of one sender few are kept that cannot be answered.
      const headers =
        properties.replyTo === "tool.result.fuzz"
          ? properties.headers
          : { ...properties.headers, "rb-source": `fuzz-${from + index}` };
      channel.publish("rockbot", "tool.invoke.echo", Buffer.from(body), { ...properties, headers });
    }
    await channel.waitForConfirms();
    await expect.poll(async () => answers + (await parked(channel)), WAIT).toBe(from + BATCH);
    heapKb.push(await usedHeapKb(service));
  }
  const before = answers;
  const huge = Buffer.alloc(LARGEST_BYTES, "x");
  channel.publish("rockbot", "tool.invoke.echo", huge, {
    replyTo: "tool.result.fuzz",
    type: "RockBot.Tools.ToolInvokeRequest",
    messageId: "huge",
  });
  await expect.poll(() => answers, WAIT).toBe(before + 1);

  await using bus = await connectBus(broker.url);
  await using caller = await createToolCaller(bus, { agent: "after" });
  await expect(caller.call("echo", { id: "alive" })).resolves.toMatchObject({ content: "alive" });
  const deadLettered = await parked(channel);
  await record({
    fault: "F15",
    done: `${REQUESTS} random hostile requests, and one of 16 MiB`,
    figures: {
      answered: answers,
      "dead-lettered": deadLettered,
      lost: REQUESTS + 1 - answers - deadLettered,
      crashes: 0,
      "heap growth KiB": Math.max(...heapKb.slice(-5)) - Math.max(...heapKb.slice(0, 5)),
    },
  });
  // From the first quarter on, once everything is warm.
  expect(Math.max(...heapKb.slice(-5))).toBeLessThan(Math.max(...heapKb.slice(0, 5)) + HEAP_GROWTH_KB);
  await model.close();
});

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "\u0000", "__proto__", "constructor", "../..", "#", "*", "\ud800"),
);

const small = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.json({ maxDepth: 5 }).map((json) => Buffer.from(json)),
  fc
    .record(
      { toolCallId: fc.anything(), toolName: fc.anything(), arguments: fc.anything(), sessionId: fc.anything() },
      { requiredKeys: [] },
    )
    .map((value) => Buffer.from(JSON.stringify(value))),
  fc
    .record({
      toolCallId: text,
      toolName: fc.constantFrom("echo", "Echo", "ech", ""),
      arguments: fc.oneof(fc.json(), text),
    })
    .map((value) => Buffer.from(JSON.stringify(value))),
);
const odd = fc.oneof(
  fc
    .constantFrom(
      "[".repeat(100_000),
      `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      '{"toolCallId":1e999}',
      '{"a":1,"a":2}',
      "NaN",
      '"\\ud800"',
      "\ufeff{}",
    )
    .map((json) => Buffer.from(json)),
  fc.uint8Array({ minLength: 60_000, maxLength: 70_000 }).map((bytes) => Buffer.from(bytes)),
);

const body = fc.oneof({ weight: 30, arbitrary: small }, { weight: 1, arbitrary: odd });

/** Values that AMQP tables carry, not only texts. */
const headerValue = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
  fc.constant(null),
  fc.constant({ nested: { deep: ["x", 1] } }),
  fc.constant("x".repeat(10_000)),
);
const headerName = fc.oneof(
  fc.constantFrom(
    "rb-source",
    "rb-rb-timeout-ms",
    "rb-timeout-ms",
    "rb-traceparent",
    "rb-tracestate",
    "rb-__proto__",
    "x-death",
    "rb-rb-progress",
  ),
  fc.string({ minLength: 1, maxLength: 20 }),
);

const hostileRequest = fc.record({
  body,
  properties: fc.record(
    {
      headers: fc.dictionary(headerName, headerValue, { maxKeys: 6 }),
      type: fc.oneof(
        { weight: 3, arbitrary: fc.constant("RockBot.Tools.ToolInvokeRequest") },
        { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
      ),
      // Either answered or dead-lettered: both are counted below. The default topic has no queue here, so it is left
      // out.
      replyTo: fc.oneof(
        { weight: 4, arbitrary: fc.constant("tool.result.fuzz") },
        {
          weight: 1,
          arbitrary: fc.constantFrom("tool.invoke.echo", "user.message", "tool.result.a.b.c", "#", "tool.result.*"),
        },
      ),
      correlationId: fc.string({ maxLength: 60 }),
      messageId: fc.string({ maxLength: 60 }),
      contentType: fc.constantFrom("application/json", "text/html", "application/octet-stream", ""),
      contentEncoding: fc.constantFrom("gzip", "utf-8", ""),
      timestamp: fc.nat(),
    },
    { requiredKeys: ["replyTo"] },
  ),
});

async function parked(channel: { checkQueue(name: string): Promise<{ messageCount: number }> }): Promise<number> {
  return (await channel.checkQueue("rockbot.echo.v2.parked")).messageCount;
}

/** What is in use after a garbage collection. */
async function usedHeapKb(service: RunningProcess): Promise<number> {
  const before = service.stderr().length;
  service.kill("SIGUSR2");
  const read = () => /heap (\d+)/.exec(service.stderr().slice(before))?.[1];
  await expect.poll(read, WAIT).toBeDefined();
  return Number(read());
}
