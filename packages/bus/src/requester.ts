import type { Envelope } from "@rockbot/contracts";
import type { Bus, SubscribeOptions } from "./bus.ts";
import { BusClosedError } from "./bus-errors.ts";

export interface RequesterOptions {
  /** Where answers come; written into every request. */
  readonly replyTo: string;
  /** The subscription that takes the answers. */
  readonly subscription: Pick<SubscribeOptions, "name" | "kind">;
  /** What an answer answers: the `key` of a request. @default its correlation id */
  readonly keyOf?: ((reply: Envelope) => string | undefined) | undefined;
  /** Called with each answer that nobody waits for, or that its request does not accept. */
  readonly onStray?: ((reply: Envelope) => void) | undefined;
}

export interface RequestOptions {
  /** @default the request's correlation id */
  readonly key?: string | undefined;
  /** How long to wait for the answer, in milliseconds; the request is dropped if nobody has taken it by then. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether a reply with the right key is the answer. @default any is */
  readonly accept?: ((reply: Envelope) => boolean) | undefined;
  /** Called once the bus has confirmed the request, if that is before its answer. */
  readonly onConfirmed?: (() => void) | undefined;
}

/** Sends requests and waits for their answers. Disposal fails those that wait. */
export interface Requester extends AsyncDisposable {
  /**
   * Publishes the request, mandatory, and resolves with its answer. Settles once.
   * @throws {RequestTimeoutError} if no answer came in time
   * @throws the signal's reason if it aborts, and what Bus.publish throws
   */
  request(message: Envelope, options: RequestOptions): Promise<Envelope>;
  /**
   * Waits for the answer to a request that was published before, by a process that had this one's subscription. Settles once.
   * @throws as `request`
   */
  await(key: string, options: Pick<RequestOptions, "timeoutMs" | "signal" | "accept">): Promise<Envelope>;
  /** Requests without an answer yet. */
  readonly pending: number;
}

/** No answer came in time. */
export class RequestTimeoutError extends Error {
  override readonly name = "RequestTimeoutError";
}

/** A requester that subscribes for answers with its first request. */
export function createRequester(bus: Bus, { replyTo, subscription, keyOf = (reply) => reply.correlationId, onStray }: RequesterOptions): Requester {
  interface Pending {
    readonly accept: ((reply: Envelope) => boolean) | undefined;
    readonly resolve: (reply: Envelope) => void;
    readonly reject: (error: Error) => void;
  }
  const pending = new Map<string, Pending>();
  let subscribed: Promise<AsyncDisposable> | undefined;
  let isClosed = false;

  function subscribe(): Promise<AsyncDisposable> {
    const started = bus.subscribe({ ...subscription, topics: [replyTo], concurrency: 512 }, async (reply) => {
      const key = keyOf(reply) ?? "";
      const waiting = pending.get(key);
      if (waiting === undefined || waiting.accept?.(reply) === false) return onStray?.(reply);
      pending.delete(key); // now, not when the caller wakes up: a repeat may be the very next message
      waiting.resolve(reply);
    });
    started.catch(() => {
      subscribed = undefined; // the next request tries again
    });
    return started;
  }

  async function answerTo(
    key: string,
    { timeoutMs, signal, accept }: Pick<RequestOptions, "timeoutMs" | "signal" | "accept">,
    publish?: (reject: (reason: unknown) => void) => void,
  ): Promise<Envelope> {
    if (isClosed) throw new BusClosedError("Cannot wait for an answer: the requester is closed");
    if (pending.has(key)) throw new RangeError(`Cannot wait for the answer to "${key}": somebody does already`);
    signal?.throwIfAborted();
    const { promise: answer, resolve, reject } = Promise.withResolvers<Envelope>();
    const timer = setTimeout(() => reject(new RequestTimeoutError(`No answer on "${replyTo}" within ${timeoutMs} ms`)), timeoutMs);
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    pending.set(key, { accept, resolve, reject }); // before publishing: the answer may overtake the confirm
    try {
      subscribed ??= subscribe();
      subscribed.then(() => publish?.(reject), reject);
      return await answer;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      pending.delete(key);
    }
  }

  return {
    get pending() {
      return pending.size;
    },
    async request(message, { key = message.correlationId, onConfirmed, ...options }) {
      if (key === undefined) throw new TypeError("Cannot send a request without a key: give it a correlation id");
      const start = performance.now();
      const settled = new AbortController();
      try {
        return await answerTo(key, options, (reject) => {
          const ttlMs = Math.floor(options.timeoutMs - (performance.now() - start));
          if (ttlMs <= 0 || !pending.has(key)) return;
          bus.publish({ ...message, replyTo }, { mandatory: true, ttlMs, timeoutMs: ttlMs, signal: settled.signal }).then(() => {
            if (pending.has(key)) onConfirmed?.();
          }, reject);
        });
      } finally {
        settled.abort(); // one that still waits for the bus is not sent
      }
    },
    await: (key, options) => answerTo(key, options),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const { reject } of pending.values()) reject(new BusClosedError("The requester was closed before the answer came"));
      await (await subscribed?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
