import { type Meter, metrics } from "@opentelemetry/api";
import type { QueuePart } from "@rockbot/bus";

/** Messages that a publisher holds: sent without the broker's confirm, and not sent yet. */
export interface PublishWindow {
  readonly unconfirmed: number;
  readonly waiting: number;
}

/** What waits in one queue of a service, as the broker counts it. */
export interface QueueDepth {
  readonly queue: QueuePart;
  readonly messages: number;
  readonly consumers: number;
}

const publishers = new Set<() => PublishWindow>();
const subscriptions = new Map<() => number, string>();
const depthsOf = new Map<() => Promise<readonly QueueDepth[]>, string>();
const connections = new Map<() => ShownState, Connection>();

type Connection = "publish" | "consume";

/** `down` is all that carries no messages and is not blocked. */
export type ShownState = (typeof SHOWN_STATES)[number];

/** What an operator has to tell apart. */
const SHOWN_STATES = ["ready", "blocked", "down"] as const;

/**
 * Made when first needed: what is made before telemetry starts, such as while modules load, records nothing for ever.
 */
let made: ReturnType<typeof makeInstruments> | undefined;
function instruments(): ReturnType<typeof makeInstruments> {
  made ??= makeInstruments();
  return made;
}

function makeInstruments() {
  const meter = metrics.getMeter("@rockbot/bus-rabbitmq");
  meter
    .createObservableGauge("rockbot.messaging.publish.window", {
      description: "Messages being published, by state: unconfirmed (at most 1024) or waiting.",
    })
    .addCallback((result) => {
      const windows = [...publishers].map((read) => read());
      for (const state of ["unconfirmed", "waiting"] as const) {
        const sum = windows.reduce((total, window) => total + window[state], 0);
        result.observe(sum, { state });
      }
    });
  meter
    .createObservableGauge("rockbot.messaging.prefetched.messages", {
      description: "Messages that are here and wait for a free handler, by subscription.",
    })
    .addCallback((result) => {
      const sums = new Map<string, number>();
      for (const [read, subscription] of subscriptions) sums.set(subscription, (sums.get(subscription) ?? 0) + read());
      for (const [subscription, sum] of sums) result.observe(sum, { "messaging.subscription": subscription });
    });
  observeBroker(meter);
  return {
    failed: meter.createCounter("rockbot.messaging.failed.connections", {
      description: "Attempts to connect to the broker that failed, by outcome: refused or failed.",
    }),
    reloads: meter.createCounter("rockbot.credentials.reload_failures", {
      description: "Times a file with a credential could not be read again, so that the last value stays in use.",
    }),
    parked: meter.createCounter("rockbot.messaging.parked.messages", {
      description: "Messages put aside for an operator, by reason.",
    }),
    dropped: meter.createCounter("rockbot.messaging.dropped.messages", {
      description: "Messages without a second chance: their handler failed, or they cannot be read or kept.",
    }),
    refused: meter.createCounter("rockbot.messaging.refused.messages", {
      description: "Messages dropped because their sender has no right to send them.",
    }),
    lost: meter.createCounter("rockbot.messaging.lost.connections", {
      description: "Connections to the broker that were lost.",
    }),
  };
}

function observeBroker(meter: Meter): void {
  meter
    .createObservableGauge("rockbot.messaging.queue.messages", {
      description:
        "Messages that lie ready at the broker, by subscription and queue: main, retry, dlq or parked. Each instance reports the same figure.",
    })
    .addCallback(async (result) => {
      for (const [subscription, depths] of await readDepths()) {
        for (const { queue, messages } of depths)
          result.observe(messages, { "messaging.subscription": subscription, queue });
      }
    });
  meter
    .createObservableGauge("rockbot.messaging.queue.consumers", {
      description: "Consumers of a service's main queue, of all its instances.",
    })
    .addCallback(async (result) => {
      for (const [subscription, depths] of await readDepths()) {
        const main = depths.find(({ queue }) => queue === "main");
        if (main !== undefined) result.observe(main.consumers, { "messaging.subscription": subscription });
      }
    });
  meter
    .createObservableGauge("rockbot.messaging.connections", {
      description: "Connections to the broker, by purpose and state: ready, blocked or down.",
    })
    .addCallback((result) => {
      for (const connection of ["publish", "consume"] as const) {
        const states = [...connections].filter(([, purpose]) => purpose === connection).map(([read]) => read());
        for (const state of SHOWN_STATES)
          result.observe(states.filter((it) => it === state).length, { connection, state });
      }
    });
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

export function countFailedConnection(connection: Connection, isRefused: boolean): void {
  instruments().failed.add(1, { connection, outcome: isRefused ? "refused" : "failed" });
}

export function countReloadFailure(credential: "bus_url"): void {
  instruments().reloads.add(1, { credential });
}

export function countLostConnection(connection: Connection): void {
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

/** Measures what lies at the broker for a service until disposed. */
export function observeDepths(subscription: string, read: () => Promise<readonly QueueDepth[]>): Disposable {
  instruments();
  depthsOf.set(read, subscription);
  return { [Symbol.dispose]: () => depthsOf.delete(read) };
}

/** Measures the state of a connection until disposed. */
export function observeConnection(connection: Connection, read: () => ShownState): Disposable {
  instruments();
  connections.set(read, connection);
  return { [Symbol.dispose]: () => connections.delete(read) };
}

/** Reads the depths by subscription. One process may have several connections that consume the same queue. */
async function readDepths(): Promise<ReadonlyMap<string, readonly QueueDepth[]>> {
  const read = new Map<string, readonly QueueDepth[]>();
  await Promise.all(
    [...depthsOf].map(async ([depths, subscription]) => {
      const known = await depths();
      if (known.length > 0) read.set(subscription, known);
    }),
  );
  return read;
}
