import {
  type Attributes,
  type Context,
  type Counter,
  context,
  type Histogram,
  type Meter,
  metrics,
  propagation,
} from "@opentelemetry/api";
import { remembered } from "@rockbot/base";
import { type Envelope, Header } from "@rockbot/contracts";
import type { Bus, Handler, PublishOptions, SubscribeOptions } from "./bus.ts";
import { headersFault } from "./header-bytes.ts";
import { topicFault } from "./topic.ts";
import { withTraceOrigin } from "./trace-origin.ts";

/**
 * Adds a duration and a count to each publish and each handled message. It carries W3C trace context in the envelope's
 * headers, so that one trace leads from caller to service. It makes no spans: who calls and who handles make their own,
 * with the attributes of {@link messagingSpan}. It also refuses messages that no bus carries, so every adapter returns
 * its bus through this function.
 */
export function traceBus(bus: Bus): Bus {
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
      const fault = destination.isTopic ? headersFault(message) : topicFault(message.topic);
      const sent = options?.isTraced === false ? message : withTrace(message);
      return (fault === undefined ? bus.publish(sent, options) : Promise.reject(fault)).then(
        () => record(published, destination, undefined, start),
        (error: unknown) => {
          record(published, destination, faultOf(error), start);
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
        active.add(1, place);
        try {
          await (isTraced
            ? context.with(traceOf(message), handler, undefined, message, delivery)
            : handler(message, delivery));
          record(processed, destination, undefined, start);
        } catch (error) {
          record(processed, destination, faultOf(error), start);
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
    duration: meter.createHistogram("rockbot.messaging.publish.duration", {
      unit: "ms",
      description: "Time until the bus took responsibility.",
    }),
  };
  const processed: Measures = {
    count: meter.createCounter("rockbot.messaging.process.messages", { description: "Messages handled, by result." }),
    duration: meter.createHistogram("rockbot.messaging.process.duration", {
      unit: "ms",
      description: "Time in the handler.",
    }),
  };
  const active = meter.createUpDownCounter("rockbot.messaging.active_messages", {
    description: "Messages in handlers now, by subscription.",
  });
  return { published, processed, active };
}

/** The message with the trace of now in its headers. */
function withTrace(message: Envelope): Envelope {
  const headers = { ...message.headers };
  propagation.inject(context.active(), headers);
  return { ...message, headers };
}

/** The trace that the message carries, and whose word that is. */
const traceOf = (message: Envelope): Context =>
  propagation.extract(withTraceOrigin(context.active(), strangerOf(message)), message.headers);

/**
 * The sender, unless it calls for others: only delegates may, which are ours, and a message of anybody else who says so
 * is refused.
 */
const strangerOf = ({ headers, userId, source }: Envelope): string | undefined =>
  headers[Header.OnBehalfOf] === undefined ? (userId ?? source) : undefined;

interface Measures {
  readonly count: Counter;
  readonly duration: Histogram;
}

function record(
  { count, duration }: Measures,
  { name, succeeded }: Destination,
  fault: string | undefined,
  start: number,
): void {
  const attributes = fault === undefined ? succeeded : { "messaging.destination": name, "messaging.result": fault };
  count.add(1, attributes);
  duration.record(performance.now() - start, attributes);
}

/** What the fault is called in metrics. */
const faultOf = (error: unknown): string => (error instanceof Error ? error.name : "error");

/**
 * The attributes of a span in which a message is sent or handled, by OpenTelemetry's conventions.
 * @see https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
export function messagingSpan({ traits }: Pick<Bus, "traits">, type: "send" | "process", topic: string): Attributes {
  return {
    "messaging.system": traits.system ?? "in_process",
    "messaging.operation.name": type === "send" ? "publish" : "process",
    "messaging.operation.type": type,
    "messaging.destination.name": destinationOfTopic(topic).name,
  };
}

/** Where messages go, as metrics have it. */
interface Destination {
  readonly name: string;
  readonly succeeded: Attributes;
  /** True if messages can be published there. */
  readonly isTopic: boolean;
}

/** Tells where a topic leads, by its first two words: what follows are names, too many for a metric's label. */
function destinationOfTopic(topic: string): Destination {
  const second = topic.indexOf(".", topic.indexOf(".") + 1);
  const name = second === -1 ? topic : topic.slice(0, second);
  return {
    name,
    succeeded: Object.freeze({ "messaging.destination": name, "messaging.result": "ok" }),
    isTopic: topicFault(topic) === undefined,
  };
}

/**
 * The name of a service's subscription; of another its first word, since what follows may be as many names as there are
 * processes.
 */
export function subscriptionLabel({ name, kind = "service" }: Pick<SubscribeOptions, "name" | "kind">): string {
  return kind === "service" ? name : (name.split(".", 1)[0] ?? name);
}
