import { metrics } from "@opentelemetry/api";

/** Messages that a publisher holds: sent without the broker's confirm, and not sent yet. */
export interface PublishWindow {
  readonly unconfirmed: number;
  readonly waiting: number;
}

const publishers = new Set<() => PublishWindow>();
const subscriptions = new Map<() => number, string>();

/** Made when first needed: what is made before telemetry starts, such as while modules load, records nothing for ever. */
let made: ReturnType<typeof makeInstruments> | undefined;
function instruments(): ReturnType<typeof makeInstruments> {
  made ??= makeInstruments();
  return made;
}

function makeInstruments() {
  const meter = metrics.getMeter("@rockbot/bus-rabbitmq");
  meter
    .createObservableGauge("rockbot.messaging.publish.window", { description: "Messages being published, by state: unconfirmed (at most 1024) or waiting." })
    .addCallback((result) => {
      const windows = [...publishers].map((read) => read());
      for (const state of ["unconfirmed", "waiting"] as const) {
        const sum = windows.reduce((total, window) => total + window[state], 0);
        result.observe(sum, { state });
      }
    });
  meter
    .createObservableGauge("rockbot.messaging.prefetched.messages", { description: "Messages that are here and wait for a free handler, by subscription." })
    .addCallback((result) => {
      const sums = new Map<string, number>();
      for (const [read, subscription] of subscriptions) sums.set(subscription, (sums.get(subscription) ?? 0) + read());
      for (const [subscription, sum] of sums) result.observe(sum, { "messaging.subscription": subscription });
    });
  return {
    parked: meter.createCounter("rockbot.messaging.parked.messages", { description: "Messages put aside for an operator, by reason." }),
    dropped: meter.createCounter("rockbot.messaging.dropped.messages", {
      description: "Messages without a second chance: their handler failed, or they cannot be read or kept.",
    }),
    refused: meter.createCounter("rockbot.messaging.refused.messages", { description: "Messages dropped because they came past the rights of their sender." }),
    lost: meter.createCounter("rockbot.messaging.lost.connections", { description: "Connections to the broker that were lost." }),
  };
}

export function countParked(subscription: string, reason: string): void {
  instruments().parked.add(1, { "messaging.subscription": subscription, reason });
}

export function countDropped(subscription: string): void {
  instruments().dropped.add(1, { "messaging.subscription": subscription });
}

export function countRefused(subscription: string): void {
  instruments().refused.add(1, { "messaging.subscription": subscription });
}

export function countLostConnection(connection: "publish" | "consume"): void {
  instruments().lost.add(1, { connection });
}

/** Measures a publisher until disposed. */
export function observePublisher(read: () => PublishWindow): Disposable {
  instruments();
  publishers.add(read);
  return { [Symbol.dispose]: () => publishers.delete(read) };
}

/** Measures what a subscription holds ready, until disposed. */
export function observePrefetched(subscription: string, read: () => number): Disposable {
  instruments();
  subscriptions.set(read, subscription);
  return { [Symbol.dispose]: () => subscriptions.delete(read) };
}
