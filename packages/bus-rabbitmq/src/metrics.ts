import { metrics } from "@opentelemetry/api";

const meter = metrics.getMeter("@rockbot/bus-rabbitmq");
const parked = meter.createCounter("rockbot.messaging.parked.messages", { description: "Messages put aside for an operator, by reason." });
const dropped = meter.createCounter("rockbot.messaging.dropped.messages", { description: "Messages without a second chance whose handler failed." });
const lost = meter.createCounter("rockbot.messaging.lost.connections", { description: "Connections to the broker that were lost." });

export function countParked(subscription: string, reason: string): void {
  parked.add(1, { "messaging.subscription": subscription, reason });
}

export function countDropped(subscription: string): void {
  dropped.add(1, { "messaging.subscription": subscription });
}

export function countLostConnection(connection: "publish" | "consume"): void {
  lost.add(1, { connection });
}
