import {
  type Attributes,
  type Context,
  type Counter,
  context,
  type Histogram,
  type Meter,
  metrics,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { remembered } from "@rockbot/base";
import type { Envelope } from "@rockbot/contracts";
import type { Bus, Handler, PublishOptions, SubscribeOptions } from "./bus.ts";
import { headersFault } from "./header-bytes.ts";
import { topicFault } from "./topic.ts";

/**
 * Adds a span, a duration and a count to each publish and each handled message. It carries W3C trace context in the envelope's headers, so
 * that one trace leads from caller to service. Where `isTraced` is false it carries no trace, and makes no span for a handled message. It
 * also refuses messages that no bus carries, so every adapter returns its bus through this function.
 */
export function traceBus(bus: Bus): Bus {
  const tracer = trace.getTracer("@rockbot/bus");
  const meter = metrics.getMeter("@rockbot/bus");
  const { published, processed, active } = createMeasures(meter);
  const destinationOf = remembered(destinationOfTopic);

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
      const start = performance.now();
      const destination = destinationOf(message.topic);
      const parent = context.active();
      const span = startPublishSpan(tracer, parent, destination.name);
      const fault = destination.isTopic ? headersFault(message) : topicFault(message.topic);
      const isCarried = options?.isTraced !== false;
      const sent = isCarried ? withTrace(message, span === undefined ? parent : trace.setSpan(parent, span)) : message;
      return (fault === undefined ? bus.publish(sent, options) : Promise.reject(fault)).then(
        () => {
          span?.end();
          record(published, destination, undefined, start);
        },
        (error: unknown) => {
          record(published, destination, endWithFault(span, error), start);
          throw error;
        },
      );
    },
    subscribe(options: SubscribeOptions, handler: Handler) {
      const place = Object.freeze({ "messaging.subscription": subscriptionLabel(options) });
      const { isTraced = true } = options;
      return bus.subscribe(options, async (message, delivery) => {
        const start = performance.now();
        const destination = destinationOf(message.topic);
        const inside = isTraced ? enterProcessSpan(tracer, message, destination.name) : undefined;
        const span = inside && trace.getSpan(inside);
        active.add(1, place);
        try {
          await (inside === undefined ? handler(message, delivery) : context.with(inside, handler, undefined, message, delivery));
          span?.end();
          record(processed, destination, undefined, start);
        } catch (error) {
          record(processed, destination, endWithFault(span, error), start);
          throw error;
        } finally {
          active.add(-1, place);
        }
      });
    },
    inspect: (name, part) => bus.inspect(name, part),
    visitParked: (name, visit, options) => bus.visitParked(name, visit, options),
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
}

function createMeasures(meter: Meter) {
  const published: Measures = {
    count: meter.createCounter("rockbot.messaging.publish.messages", { description: "Messages published, by result." }),
    duration: meter.createHistogram("rockbot.messaging.publish.duration", { unit: "ms", description: "Time until the bus took responsibility." }),
  };
  const processed: Measures = {
    count: meter.createCounter("rockbot.messaging.process.messages", { description: "Messages handled, by result." }),
    duration: meter.createHistogram("rockbot.messaging.process.duration", { unit: "ms", description: "Time in the handler." }),
  };
  const active = meter.createUpDownCounter("rockbot.messaging.active_messages", { description: "Messages in handlers now, by subscription." });
  return { published, processed, active };
}

/** The message with the trace of a context in its headers. */
function withTrace(message: Envelope, from: Context): Envelope {
  const headers = { ...message.headers };
  propagation.inject(from, headers);
  return { ...message, headers };
}

interface Measures {
  readonly count: Counter;
  readonly duration: Histogram;
}

function record({ count, duration }: Measures, { name, succeeded }: Destination, fault: string | undefined, start: number): void {
  const attributes = fault === undefined ? succeeded : { "messaging.destination": name, "messaging.result": fault };
  count.add(1, attributes);
  duration.record(performance.now() - start, attributes);
}

/** @returns undefined inside a span that is not recorded: its children would not be either, and its own id is as good as theirs */
function startPublishSpan(tracer: Tracer, parent: Context, destination: string): Span | undefined {
  if (trace.getSpan(parent)?.isRecording() === false) return undefined;
  return tracer.startSpan("publish", { kind: SpanKind.PRODUCER, attributes: { "messaging.destination": destination } }, parent);
}

/** @returns the context of the new span, in the trace that the message carries */
function enterProcessSpan(tracer: Tracer, { headers }: Envelope, destination: string): Context {
  const parent = propagation.extract(context.active(), headers);
  const span = tracer.startSpan("process", { kind: SpanKind.CONSUMER, attributes: { "messaging.destination": destination } }, parent);
  return trace.setSpan(parent, span);
}

/** @returns what the fault is called in metrics */
function endWithFault(span: Span | undefined, error: unknown): string {
  const result = error instanceof Error ? error.name : "error";
  span?.setStatus({ code: SpanStatusCode.ERROR, message: result });
  span?.end();
  return result;
}

/** Where messages go, as metrics and spans have it. */
interface Destination {
  readonly name: string;
  readonly succeeded: Attributes;
  /** Whether messages can be published there. */
  readonly isTopic: boolean;
}

/** Tells where a topic leads, by its first two words: what follows are names, too many for a metric's label. */
function destinationOfTopic(topic: string): Destination {
  const second = topic.indexOf(".", topic.indexOf(".") + 1);
  const name = second === -1 ? topic : topic.slice(0, second);
  return { name, succeeded: Object.freeze({ "messaging.destination": name, "messaging.result": "ok" }), isTopic: topicFault(topic) === undefined };
}

/** The name of a service's subscription; of another its first word, since what follows may be as many names as there are processes. */
export function subscriptionLabel({ name, kind = "service" }: Pick<SubscribeOptions, "name" | "kind">): string {
  return kind === "service" ? name : (name.split(".", 1)[0] ?? name);
}
