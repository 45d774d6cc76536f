import { type Counter, metrics } from "@opentelemetry/api";

// Made when first needed: a counter that is made before telemetry has started records nothing.

const counters = new Map<string, Counter>();

function counter(name: string, description: string): Counter {
  const made = counters.get(name) ?? metrics.getMeter("@rockbot/bus-rabbitmq").createCounter(name, { description });
  counters.set(name, made);
  return made;
}

export function countParked(subscription: string, reason: string): void {
  counter("rockbot.messaging.parked.messages", "Messages put aside for an operator, by reason.").add(1, { "messaging.subscription": subscription, reason });
}

export function countDropped(subscription: string): void {
  counter("rockbot.messaging.dropped.messages", "Messages without a second chance whose handler failed.").add(1, { "messaging.subscription": subscription });
}

export function countLostConnection(connection: "publish" | "consume"): void {
  counter("rockbot.messaging.lost.connections", "Connections to the broker that were lost.").add(1, { connection });
}
