import { type AbortSource, Deadlines, onAbort, SlotMap } from "@rockbot/base";
import type { Envelope } from "@rockbot/contracts";
import type { Bus, PublishOptions, SubscribeOptions } from "./bus.ts";
import {
  BusClosedError,
  BusUnavailableError,
  MessageTooLargeError,
  QueueFullError,
  UnroutableError,
} from "./bus-errors.ts";

/** Where a requester hears answers, and where it reports. */
export interface RequesterOptions {
  /** Where answers come; written into every request that does not name one of `alsoHears`. */
  readonly replyTo: string;
  /** Further topics of its own where answers come: to requests that name one of them. @default none */
  readonly alsoHears?: readonly string[] | undefined;
  /** The subscription that takes the answers. */
  readonly subscription: Pick<SubscribeOptions, "name" | "kind">;
  /** The `key` of the request that an answer is for. @default its correlation id */
  readonly keyOf?: ((reply: Envelope) => string | undefined) | undefined;
  /** Called with each answer that nobody waits for, or that its request does not accept. */
  readonly onStray?: ((reply: Envelope) => void) | undefined;
}

/** Settings of one request. */
export interface RequestOptions {
  /** @default the request's correlation id */
  readonly key?: string | undefined;
  /** How long to wait for the answer, in milliseconds; also the time to live of the request. */
  readonly timeoutMs: number;
  readonly signal?: AbortSource | undefined;
  /**
   * Tells whether a reply with the right key is the answer. `again` if it is none, and asks for the request by the
   * durable way. @default any is
   */
  readonly accept?: ((reply: Envelope) => boolean | "again") | undefined;
  /** How long the request is offered again while nobody's queue takes it; see PublishOptions. */
  readonly offerAgainMs?: number | undefined;
  /** Called once the bus has confirmed the request, if that is before its answer. */
  readonly onConfirmed?: (() => void) | undefined;
  /**
   * Asks by the fast lane first. Gives the request as it is sent by the durable way, which happens once at most: where
   * nobody takes it from the lane, where it may be lost with a connection, or where a reply says `again`.
   * @default it is asked by the durable way alone
   */
  readonly durably?: ((why: Detour) => Envelope) | undefined;
}

/** Why a request leaves the fast lane: it has no place there, or somebody may have it. */
export type Detour = "not_taken" | "maybe_taken";

/** Sends requests and waits for their answers. Disposal fails those that wait. */
export interface Requester extends AsyncDisposable {
  /**
   * Publishes the request, mandatory, and resolves with its answer. Settles once.
   * @throws {RequestTimeoutError} if no answer came in time
   * @throws {BusClosedError} if the requester or its bus was closed, at once; it says whether somebody may have the
   * request
   * @throws the signal's reason if it aborts, and what Bus.publish throws
   */
  request(message: Envelope, options: RequestOptions): Promise<Envelope>;
  /**
   * Waits for the answer to a request that was published before, by a process that had this one's subscription. Settles
   * once.
   * @throws as `request`
   */
  await(key: string, options: Pick<RequestOptions, "timeoutMs" | "signal" | "accept">): Promise<Envelope>;
  /**
   * Subscribes for answers now, where it would do so with the first request.
   * @throws what Bus.subscribe throws; the first request tries again then
   */
  listen(): Promise<void>;
  /** Requests without an answer yet. */
  readonly pending: number;
}

/** No answer came in time. */
export class RequestTimeoutError extends Error {
  override readonly name = "RequestTimeoutError";
}

/** A requester that subscribes for answers with its first request. */
export function createRequester(bus: Bus, options: RequesterOptions): Requester {
  return new SubscribingRequester(bus, options);
}

class SubscribingRequester implements Requester {
  readonly #bus: Bus;
  readonly #options: RequesterOptions;
  readonly #waits: Waits;
  #subscribed: Promise<AsyncDisposable> | undefined;
  #isListening = false;
  #isClosed = false;

  constructor(bus: Bus, options: RequesterOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#waits = {
      byKey: new SlotMap(),
      fast: new Set(),
      deadlines: new Deadlines(),
      replyTo: options.replyTo,
    };
  }

  get pending(): number {
    return this.#waits.byKey.size;
  }

  request(message: Envelope, options: RequestOptions): Promise<Envelope> {
    const { key = message.correlationId, durably } = options;
    if (key === undefined)
      return Promise.reject(new TypeError("Cannot send a request without a key: give it a correlation id"));
    return this.#answerTo(key, options, (wait, leftMs) => {
      if (durably !== undefined) this.#askFast(wait, message, leftMs, { ...options, durably });
      // A service that may have the request may answer it. A caller that hears "nobody has it" would ask another
      // service.
      else this.#publish(wait, message, leftMs, options, (error) => mayHaveBeenTaken(error) || wait.reject(error));
    });
  }

  /** Asks by the fast lane, and by the durable way if that comes to nothing. */
  #askFast(wait: Wait, message: Envelope, leftMs: number, options: FastOptions): void {
    const { fast } = this.#waits;
    const dueAt = performance.now() + leftMs;
    wait.detour = (why) => {
      if (!fast.delete(wait)) return;
      const again = options.durably(why);
      this.#publish(wait, again, dueAt - performance.now(), options, (error) => {
        if (why === "not_taken" && !mayHaveBeenTaken(error)) wait.reject(error);
      });
    };
    fast.add(wait);
    this.#publish(wait, message, leftMs, { ...options, offerAgainMs: 0, lane: "fast" }, (error) => {
      if (error instanceof MessageTooLargeError || error instanceof BusClosedError) wait.reject(error);
      else wait.detour?.(mayHaveBeenTaken(error) ? "maybe_taken" : "not_taken");
    });
  }

  #publish(
    wait: Wait,
    message: Envelope,
    leftMs: number,
    { offerAgainMs, onConfirmed, lane }: Pick<RequestOptions & PublishOptions, "offerAgainMs" | "onConfirmed" | "lane">,
    onFailed: (error: unknown) => void,
  ): void {
    const ttlMs = Math.floor(leftMs);
    if (ttlMs <= 0) return;
    const { replyTo, alsoHears = [] } = this.#options;
    const isWanted = () => wait.isOpen && (lane === undefined || this.#waits.fast.has(wait));
    const asked = message.replyTo;
    wait.isSent = true;
    const answerAt = asked !== undefined && alsoHears.includes(asked) ? asked : replyTo;
    const sent = { ...message, replyTo: answerAt, ttlMs };
    this.#bus.publish(sent, { mandatory: true, offerAgainMs, timeoutMs: ttlMs, isWanted, lane }).then(() => {
      if (wait.isOpen) onConfirmed?.();
    }, onFailed);
  }

  await(key: string, options: WaitOptions): Promise<Envelope> {
    return this.#answerTo(key, options, (wait) => {
      wait.isSent = true; // by that process
    });
  }

  async listen(): Promise<void> {
    if (this.#isClosed) throw new BusClosedError("Cannot wait for answers: the requester is closed");
    this.#subscribed ??= this.#subscribe();
    await this.#subscribed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close("The requester was closed before the answer came");
    await (await this.#subscribed?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  /** Fails those that wait, and all that would. */
  #close(why: string): void {
    this.#isClosed = true;
    for (const wait of this.#waits.byKey.values())
      wait.reject(new BusClosedError(why, { mayHaveBeenTaken: wait.isSent }));
  }

  #subscribe(): Promise<AsyncDisposable> {
    const { replyTo, alsoHears = [], subscription, keyOf = (reply) => reply.correlationId, onStray } = this.#options;
    // A caller that waits for an answer is in a trace already: the handler that wakes it up needs none.
    const onBusClosed = () => this.#close("The bus was closed before the answer came");
    const onReconnected = () => {
      for (const wait of this.#waits.fast) wait.detour?.("maybe_taken");
    };
    const started = this.#bus.subscribe(
      {
        ...subscription,
        topics: [replyTo, ...alsoHears],
        concurrency: 512,
        isTraced: false,
        onBusClosed,
        onReconnected,
      },
      (reply) => {
        const wait = this.#waits.byKey.get(keyOf(reply) ?? "");
        const verdict = wait?.accept?.(reply) ?? true;
        if (wait === undefined || verdict === false) onStray?.(reply);
        else if (verdict === "again") wait.detour?.("maybe_taken");
        else wait.resolve(reply);
        return HEARD;
      },
    );
    started.then(
      () => {
        this.#isListening = true;
      },
      () => {
        this.#subscribed = undefined; // the next request tries again
      },
    );
    return started;
  }

  /** @param publish called with the time that is left once answers would be heard, unless the wait is over by then */
  #answerTo(key: string, options: WaitOptions, publish?: (wait: Wait, leftMs: number) => void): Promise<Envelope> {
    const { timeoutMs, signal } = options;
    if (this.#isClosed) return Promise.reject(new BusClosedError("Cannot wait for an answer: the requester is closed"));
    if (this.#waits.byKey.has(key))
      return Promise.reject(new RangeError(`Cannot wait for the answer to "${key}": somebody does already`));
    if (signal?.aborted) return Promise.reject(signal.reason);
    const wait = new Wait(key, options, this.#waits);
    this.#waits.byKey.set(key, wait); // before publishing: the answer may overtake the confirm
    const start = (leftMs: number): void => {
      try {
        publish?.(wait, leftMs);
      } catch (error) {
        wait.reject(error);
      }
    };
    if (this.#isListening) {
      start(timeoutMs);
      return wait.answer;
    }
    const dueAt = performance.now() + timeoutMs;
    this.#subscribed ??= this.#subscribe();
    this.#subscribed.then(
      () => {
        if (wait.isOpen) start(dueAt - performance.now());
      },
      (error: unknown) => wait.reject(error),
    );
    return wait.answer;
  }
}

function mayHaveBeenTaken(error: unknown): boolean {
  return (
    (error instanceof BusUnavailableError || error instanceof UnroutableError || error instanceof QueueFullError) &&
    error.mayHaveBeenTaken
  );
}

interface FastOptions extends RequestOptions {
  readonly durably: NonNullable<RequestOptions["durably"]>;
}

const HEARD = Promise.resolve();

type WaitOptions = Pick<RequestOptions, "timeoutMs" | "signal" | "accept">;

/** The state that the waits of one requester share. */
interface Waits {
  readonly byKey: SlotMap<string, Wait>;
  /** The waits whose requests are in the fast lane. */
  readonly fast: Set<Wait>;
  readonly deadlines: Deadlines;
  readonly replyTo: string;
}

/** A wait for an answer. Settles once, whatever is called. */
class Wait {
  readonly accept: RequestOptions["accept"];
  readonly answer: Promise<Envelope>;
  /** Somebody may have the request. */
  isSent = false;
  /** Has a request that is in the fast lane asked by the durable way. */
  detour: ((why: Detour) => void) | undefined;
  #resolve!: (reply: Envelope) => void;
  #reject!: (reason: unknown) => void;
  readonly #key: string;
  readonly #waits: Waits;
  readonly #callOff: () => void;
  readonly #leave: (() => void) | undefined;

  constructor(key: string, { timeoutMs, signal, accept }: WaitOptions, waits: Waits) {
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.accept = accept;
    this.#key = key;
    this.#waits = waits;
    this.#callOff = waits.deadlines.after(timeoutMs, () =>
      this.reject(new RequestTimeoutError(`No answer on "${waits.replyTo}" within ${timeoutMs} ms`)),
    );
    this.#leave = signal && onAbort(signal, () => this.reject(signal.reason));
  }

  get isOpen(): boolean {
    return this.#waits.byKey.get(this.#key) === this;
  }

  resolve(reply: Envelope): void {
    this.#end();
    this.#resolve(reply);
  }

  reject(reason: unknown): void {
    this.#end();
    this.#reject(reason);
  }

  #end(): void {
    this.#callOff();
    this.#leave?.();
    if (this.detour !== undefined) this.#waits.fast.delete(this);
    if (this.isOpen) this.#waits.byKey.delete(this.#key); // now, not when the caller wakes up: a repeat may be the very next message
  }
}
