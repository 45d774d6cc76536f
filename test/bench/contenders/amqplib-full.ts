import { randomUUID } from "node:crypto";
import { context, metrics, propagation, SpanKind, trace } from "@opentelemetry/api";
import { startTelemetry } from "@rockbot/process/telemetry";
import { type Caller, type Place, PREFETCH } from "../contender.ts";
import type { Payload } from "../payload.ts";
import { validateEcho } from "./echo-tool.ts";
import { openPlainChannel } from "./plain-channel.ts";

const EXCHANGE = "bench-full";
const REQUESTS = "tool.invoke.bench-full";
const DEAD = "bench-full.dead";
const REPLIES = "tool.result.bench-full";
const TIMEOUT_MS = 60_000;

interface Request {
  readonly id: string;
  /** The arguments as JSON. */
  readonly arguments: string;
}

interface Reply {
  readonly id: string;
  readonly content: Payload;
}

/**
 * Plain amqplib with what ours does besides delivering, written by hand in one place: requests that expire, that come
 * back if nobody takes them and that die into a queue of their own, schema checks on both sides, a deadline for each
 * call, the trace in the requests' headers, spans, and two metrics for each message and each call. No layers, policy,
 * cancel, progress, journal or claims.
 */
export async function serve({ amqpUrl }: Place): Promise<AsyncDisposable> {
  await startTelemetry({ service: "bench-full", logTo: "stderr" });
  const signals = createSignals();
  const dead = {
    "x-dead-letter-exchange": EXCHANGE,
    "x-dead-letter-routing-key": DEAD,
    "x-dead-letter-strategy": "at-least-once",
  };
  const queueOptions = { arguments: { "x-queue-type": "quorum", "x-overflow": "reject-publish", ...dead } };
  const { connection, channel } = await openPlainChannel(amqpUrl, {
    exchange: EXCHANGE,
    prefetch: PREFETCH,
    queue: REQUESTS,
    queueOptions,
  });
  await channel.assertQueue(DEAD, { durable: true, arguments: { "x-queue-type": "quorum" } });
  await channel.bindQueue(DEAD, EXCHANGE, DEAD);
  await channel.consume(REQUESTS, (message) => {
    if (message === null) return;
    const {
      replyTo,
      correlationId,
      headers = {},
    } = message.properties as { replyTo: string; correlationId: string; headers?: Record<string, string> };
    const parent = propagation.extract(context.active(), headers);
    const received = signals.start("process", SpanKind.CONSUMER, parent);
    const ran = signals.start("invoke", SpanKind.INTERNAL, received.inside);
    const request = JSON.parse(message.content.toString()) as unknown;
    if (!isRequest(request)) return channel.nack(message, false, false);
    const { id, arguments: text } = request;
    const input = JSON.parse(text) as unknown;
    const content = validateEcho(input) ? input : { text: "the arguments do not match the schema" };
    ran.end();
    const sent = signals.start("publish", SpanKind.PRODUCER, received.inside);
    const properties = {
      persistent: true,
      mandatory: true,
      correlationId,
      messageId: randomUUID(),
      type: "Reply",
      headers: { source: "bench-full" },
    };
    channel.publish(
      EXCHANGE,
      replyTo,
      Buffer.from(JSON.stringify({ id, content } satisfies Reply)),
      properties,
      (error: Error | null) => {
        sent.end();
        received.end();
        if (error === null) channel.ack(message);
        else channel.nack(message);
      },
    );
  });
  return { [Symbol.asyncDispose]: () => connection.close() };
}

export async function connect({ amqpUrl }: Place): Promise<Caller> {
  await startTelemetry({ service: "bench-full-caller", logTo: "stderr" });
  const signals = createSignals();
  const queueOptions = { expires: 600_000 };
  const { connection, channel } = await openPlainChannel(amqpUrl, {
    exchange: EXCHANGE,
    prefetch: 2 * PREFETCH,
    queue: REPLIES,
    queueOptions,
  });
  const pending = new Map<string, { readonly answer: (reply: Reply) => void; readonly fail: (error: Error) => void }>();
  channel.on("return", ({ properties }) =>
    pending.get(String(properties.messageId))?.fail(new Error("nobody takes the request")),
  );
  await channel.consume(REPLIES, (message) => {
    if (message === null) return;
    const start = performance.now();
    const reply = JSON.parse(message.content.toString()) as unknown;
    if (isReply(reply)) pending.get(reply.id)?.answer(reply);
    signals.measure("process", start);
    channel.ack(message);
  });
  return {
    call(payload) {
      const called = signals.start("call", SpanKind.INTERNAL, context.active());
      const id = randomUUID();
      return new Promise<Payload>((resolve, reject) => {
        const settle = (outcome: () => void) => {
          clearTimeout(timer);
          pending.delete(id);
          called.end();
          outcome();
        };
        const timer = setTimeout(
          () => settle(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`))),
          TIMEOUT_MS,
        );
        pending.set(id, {
          answer: ({ content }) => settle(() => resolve(content)),
          fail: (error) => settle(() => reject(error)),
        });
        const sent = signals.start("publish", SpanKind.PRODUCER, called.inside);
        const headers: Record<string, string> = { source: "bench-full" };
        propagation.inject(sent.inside, headers);
        const properties = {
          persistent: true,
          mandatory: true,
          correlationId: id,
          messageId: id,
          replyTo: REPLIES,
          type: "Request",
          expiration: TIMEOUT_MS,
          headers,
        };
        const request: Request = { id, arguments: JSON.stringify(payload) };
        channel.publish(EXCHANGE, REQUESTS, Buffer.from(JSON.stringify(request)), properties, (error: Error | null) => {
          sent.end();
          if (error !== null) settle(() => reject(error));
        });
      });
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

const isRequest = (value: unknown): value is Request =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  typeof value.id === "string" &&
  "arguments" in value &&
  typeof value.arguments === "string";

const isReply = (value: unknown): value is Reply =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  typeof value.id === "string" &&
  "content" in value &&
  typeof value.content === "object";

/** A count and a duration for whatever is done, and a span if it is started here. */
function createSignals() {
  const tracer = trace.getTracer("bench-full");
  const meter = metrics.getMeter("bench-full");
  const count = meter.createCounter("bench.full.count");
  const duration = meter.createHistogram("bench.full.duration", { unit: "ms" });
  function measure(name: string, start: number): void {
    count.add(1, { name });
    duration.record(performance.now() - start, { name });
  }
  return {
    measure,
    start(name: string, kind: SpanKind, parent: ReturnType<typeof context.active>) {
      const start = performance.now();
      const span = tracer.startSpan(name, { kind }, parent);
      return {
        inside: trace.setSpan(parent, span),
        end() {
          span.end();
          measure(name, start);
        },
      };
    },
  };
}
