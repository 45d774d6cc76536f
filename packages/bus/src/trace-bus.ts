import { type Counter, context, type Histogram, metrics, propagation, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Envelope } from "@rockbot/contracts";
import type { Bus, Handler, PublishOptions, SubscribeOptions } from "./bus.ts";

/**
 * Adds a span, a duration and a count to each publish and each handled message, and carries W3C trace context in the
 * envelope's headers, so that one trace leads from caller to service. Every adapter returns its bus through this.
 */
export function traceBus(bus: Bus): Bus {
  const tracer = trace.getTracer("@rockbot/bus");
  const meter = metrics.getMeter("@rockbot/bus");
  const published = meter.createCounter("rockbot.messaging.publish.messages", { description: "Messages published, by result." });
  const publishDuration = meter.createHistogram("rockbot.messaging.publish.duration", { unit: "ms", description: "Time until the bus took responsibility." });
  const processed = meter.createCounter("rockbot.messaging.process.messages", { description: "Messages handled, by result." });
  const processDuration = meter.createHistogram("rockbot.messaging.process.duration", { unit: "ms", description: "Time in the handler." });
  const active = meter.createUpDownCounter("rockbot.messaging.active_messages", { description: "Messages in handlers now, by subscription." });

  return {
    get traits() {
      return bus.traits;
    },
    get isReady() {
      return bus.isReady;
    },
    get isBlocked() {
      return bus.isBlocked;
    },
    publish(message: Envelope, options?: PublishOptions) {
      const destination = destinationOf(message.topic);
      return tracer.startActiveSpan("publish", { kind: SpanKind.PRODUCER, attributes: { "messaging.destination": destination } }, (span) =>
        measured(span, { count: published, duration: publishDuration, destination }, () => {
          const carrier: Record<string, string> = {};
          propagation.inject(context.active(), carrier);
          return bus.publish("traceparent" in carrier ? { ...message, headers: { ...message.headers, ...carrier } } : message, options);
        }),
      );
    },
    subscribe(options: SubscribeOptions, handler: Handler) {
      const place = { "messaging.subscription": subscriptionLabel(options) };
      return bus.subscribe(options, (message, delivery) => {
        const destination = destinationOf(message.topic);
        const parent = propagation.extract(context.active(), message.headers);
        return tracer.startActiveSpan("process", { kind: SpanKind.CONSUMER, attributes: { "messaging.destination": destination } }, parent, async (span) => {
          active.add(1, place);
          try {
            await measured(span, { count: processed, duration: processDuration, destination }, () => handler(message, delivery));
          } finally {
            active.add(-1, place);
          }
        });
      });
    },
    inspect: (name, part) => bus.inspect(name, part),
    visitParked: (name, visit, options) => bus.visitParked(name, visit, options),
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
}

interface Measures {
  readonly count: Counter;
  readonly duration: Histogram;
  readonly destination: string;
}

/** Does the work, and ends the span with its result. */
async function measured(span: Span, { count, duration, destination }: Measures, work: () => Promise<void>): Promise<void> {
  const start = performance.now();
  let result = "ok";
  try {
    await work();
  } catch (error) {
    result = error instanceof Error ? error.name : "error";
    span.setStatus({ code: SpanStatusCode.ERROR, message: result });
    throw error;
  } finally {
    span.end();
    const attributes = { "messaging.destination": destination, "messaging.result": result };
    count.add(1, attributes);
    duration.record(performance.now() - start, attributes);
  }
}

/** The first two words of a topic: what follows are names, too many for a metric's label. */
function destinationOf(topic: string): string {
  const second = topic.indexOf(".", topic.indexOf(".") + 1);
  return second === -1 ? topic : topic.slice(0, second);
}

/** The name of a service's subscription; of another its first word, since what follows may be as many names as there are processes. */
export function subscriptionLabel({ name, kind = "service" }: Pick<SubscribeOptions, "name" | "kind">): string {
  return kind === "service" ? name : (name.split(".", 1)[0] ?? name);
}
