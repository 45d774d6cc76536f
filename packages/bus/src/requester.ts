import { Deadlines, SlotMap } from "@rockbot/async";
import type { Envelope } from "@rockbot/contracts";
import type { Bus, SubscribeOptions } from "./bus.ts";
import { BusClosedError } from "./bus-errors.ts";

export interface RequesterOptions {
  /** Where answers come; written into every request that does not name one of `alsoHears`. */
  readonly replyTo: string;
  /** Further topics of its own where answers come: to requests that name one of them. @default none */
  readonly alsoHears?: readonly string[] | undefined;
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

/** A wait for an answer. Settles once, whatever is called. */
interface Pending {
  readonly accept: RequestOptions["accept"];
  readonly resolve: (reply: Envelope) => void;
  readonly reject: (reason: unknown) => void;
}

/** No answer came in time. */
export class RequestTimeoutError extends Error {
  override readonly name = "RequestTimeoutError";
}

/** A requester that subscribes for answers with its first request. */
export function createRequester(
  bus: Bus,
  { replyTo, alsoHears = [], subscription, keyOf = (reply) => reply.correlationId, onStray }: RequesterOptions,
): Requester {
  const pending = new SlotMap<string, Pending>();
  const deadlines = new Deadlines();
  let subscribed: Promise<AsyncDisposable> | undefined;
  let isListening = false;
  let isClosed = false;

  function subscribe(): Promise<AsyncDisposable> {
    // Who waits for an answer is in a trace already: the handler that wakes it up needs none.
    const started = bus.subscribe({ ...subscription, topics: [replyTo, ...alsoHears], concurrency: 512, isTraced: false }, async (reply) => {
      const key = keyOf(reply) ?? "";
      const waiting = pending.get(key);
      if (waiting === undefined || waiting.accept?.(reply) === false) return onStray?.(reply);
      waiting.resolve(reply);
    });
    started.then(
      () => {
        isListening = true;
      },
      () => {
        subscribed = undefined; // the next request tries again
      },
    );
    return started;
  }

  /** @param publish called with the time that is left once answers would be heard, unless the wait is over by then */
  function answerTo(
    key: string,
    { timeoutMs, signal, accept }: Pick<RequestOptions, "timeoutMs" | "signal" | "accept">,
    publish?: (waiting: Pending, leftMs: number) => void,
  ): Promise<Envelope> {
    if (isClosed) return Promise.reject(new BusClosedError("Cannot wait for an answer: the requester is closed"));
    if (pending.has(key)) return Promise.reject(new RangeError(`Cannot wait for the answer to "${key}": somebody does already`));
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const onAbort = () => waiting.reject(signal?.reason);
      const callOff = deadlines.after(timeoutMs, () => waiting.reject(new RequestTimeoutError(`No answer on "${replyTo}" within ${timeoutMs} ms`)));
      signal?.addEventListener("abort", onAbort, { once: true });
      const end = (): void => {
        callOff();
        signal?.removeEventListener("abort", onAbort);
        if (pending.get(key) === waiting) pending.delete(key); // now, not when the caller wakes up: a repeat may be the very next message
      };
      const waiting: Pending = {
        accept,
        resolve(reply) {
          end();
          resolve(reply);
        },
        reject(reason) {
          end();
          reject(reason);
        },
      };
      pending.set(key, waiting); // before publishing: the answer may overtake the confirm
      if (isListening) return publish?.(waiting, timeoutMs);
      const dueAt = performance.now() + timeoutMs;
      subscribed ??= subscribe();
      subscribed.then(() => {
        if (pending.get(key) === waiting) publish?.(waiting, dueAt - performance.now());
      }, waiting.reject);
    });
  }

  return {
    get pending() {
      return pending.size;
    },
    request(message, { key = message.correlationId, onConfirmed, ...options }) {
      if (key === undefined) return Promise.reject(new TypeError("Cannot send a request without a key: give it a correlation id"));
      return answerTo(key, options, (waiting, leftMs) => {
        const ttlMs = Math.floor(leftMs);
        if (ttlMs <= 0) return;
        const isWanted = () => pending.get(key) === waiting;
        const asked = message.replyTo;
        const answerAt = asked !== undefined && alsoHears.includes(asked) ? asked : replyTo;
        bus.publish({ ...message, replyTo: answerAt }, { mandatory: true, ttlMs, timeoutMs: ttlMs, isWanted }).then(() => {
          if (isWanted()) onConfirmed?.();
        }, waiting.reject);
      });
    },
    await: (key, options) => answerTo(key, options),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const waiting of pending.values()) waiting.reject(new BusClosedError("The requester was closed before the answer came"));
      await (await subscribed?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
