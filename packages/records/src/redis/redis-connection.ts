import { setTimeout as sleep } from "node:timers/promises";
import { AwakeClock, backoffMs, RecentMap, reasonOf } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { Redis, type RedisOptions, ReplyError } from "ioredis";
import type { RedisAddress } from "../redis-address.ts";
import { StoreUnavailableError } from "../store-unavailable-error.ts";
import { countRedisFailure, observeRedis } from "./redis-metrics.ts";
import { readServerFacts, type ServerFacts } from "./server-facts.ts";

/** Scripts by name. Redis runs each of them whole or not at all. */
export type RedisScripts = Readonly<Record<string, { readonly numberOfKeys?: number; readonly lua: string }>>;

type Script = (...keysAndArguments: (string | Buffer | number)[]) => Promise<unknown>;

/**
 * A client that knows the scripts; those of any number of keys take their count before these. A name that ends in
 * Buffer says that texts come as bytes.
 */
export type RedisClient<Scripts extends RedisScripts> = Redis & {
  readonly [Name in keyof Scripts & string as Name | `${Name}Buffer`]: Script;
};

/** The purpose of a connection, its scripts, and what its process does without it. */
export interface RedisConnectionOptions<Scripts extends RedisScripts> {
  readonly log: Logger;
  /** Its purpose, in a word: `claims`. */
  readonly purpose: string;
  /** The cost of having no connection, for the log. */
  readonly whileAway: string;
  readonly scripts: Scripts;
  /** Certificates to trust for `rediss:` instead of those that Node trusts, in PEM. */
  readonly ca?: string | undefined;
  /** True if the connection is useless where the server does not say what it is. @default false */
  readonly needsFacts?: boolean | undefined;
  /** Prepares a new connection, which is used only then. @default sees that it answers */
  readonly prepare?: ((redis: RedisClient<Scripts>, facts: ServerFacts) => Promise<unknown>) | undefined;
}

/** This server cannot be used as it is now; another one, or this one later, may be. */
class UnfitServerError extends Error {
  override readonly name = "UnfitServerError";
}

/** A command must have its answer within this time. */
const ANSWER_MS = 500;
const NO_ANSWER = `no answer within ${ANSWER_MS} ms`;
const CONNECT_MS = 2_000;
/** The time from the connection to its use. */
const PREPARE_MS = 2_000;
const DISCONNECT_MS = 500;
const REFUSAL_TOLD_MS = 60_000;
/** A Sentinel must have answered within this time, else another is asked. */
const SENTINEL_MS = 1_000;
/** How ioredis begins the error of a round in which no Sentinel named a master. */
const NO_SENTINEL = "All sentinels are unreachable";

/**
 * Keeps one connection to Redis up, for ever, and fails fast while there is none. It sends nothing twice: commands
 * without an answer fail with their connection. It does not use the time limits of ioredis for commands. Such errors take an answer for missing that this process was too busy to read.
 */
export class RedisConnection<Scripts extends RedisScripts> {
  readonly #address: RedisAddress;
  readonly #options: RedisConnectionOptions<Scripts>;
  readonly #redis: RedisClient<Scripts>;
  /** Time that this process slept is not Redis's. */
  readonly #clock = new AwakeClock();
  /** When each command that has no answer was sent, on that clock. Redis answers in this order. */
  readonly #unanswered = new Set<{ readonly sentAt: number }>();
  #endWatch: (() => void) | undefined;
  #onIdle: (() => void) | undefined;
  /** The server's facts from when the connection was made; undefined while there is none. */
  #facts: ServerFacts | undefined;
  /** Attempts to connect since it was last up. */
  #failures = 0;
  #trouble = "no attempt to connect has ended yet";
  #loggedTrouble: string | undefined;
  #endHandshake: (() => void) | undefined;
  #onFirst: ((error?: Error) => void) | undefined;
  #isClosing = false;
  #isCorked = false;
  /** When the log was last told of a refusal, by its first word, such as OOM. */
  readonly #refusals = new RecentMap<string, number>(16);
  readonly #observed: Disposable;

  constructor(address: RedisAddress, options: RedisConnectionOptions<Scripts>) {
    this.#address = address;
    this.#options = options;
    this.#observed = observeRedis(options.purpose, () => this.#facts !== undefined);
    const redis = new Redis({
      ...serverOptions(address, options.ca),
      connectionName: `rockbot-${options.purpose}`,
      disableClientInfo: true,
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_MS,
      disconnectTimeout: DISCONNECT_MS,
      keepAlive: 5_000,
      enableReadyCheck: false, // preparing is that check: a Redis that reads its data from disk refuses it
      retryStrategy: () => this.#nextAttempt(),
      sentinelRetryStrategy: () => this.#nextAttempt(),
      // The master has become a replica, or has lost its replicas: find the new one.
      reconnectOnError: ({ message }) =>
        message.startsWith("READONLY") || (address.sentinels !== undefined && message.includes("NOREPLICAS")),
    });
    for (const [name, script] of Object.entries(options.scripts)) redis.defineCommand(name, script);
    this.#redis = redis as RedisClient<Scripts>;
    redis.on("connect", () => this.#watchHandshake());
    redis.on("ready", () => void this.#prepare());
    redis.on("error", (error: unknown) => this.#onError(error));
    redis.on("close", () => this.#onClose());
  }

  /**
   * Begins to connect, and waits at most `timeoutMs` for the outcome: later it goes on by itself.
   * @throws {StoreUnavailableError} if Redis refuses
   */
  async start(timeoutMs: number): Promise<void> {
    const first = new Promise<void>((resolve, reject) => {
      this.#onFirst = (error) => (error === undefined ? resolve() : reject(error));
    });
    const timer = setTimeout(() => this.#onFirst?.(), timeoutMs);
    this.#redis.connect().catch(() => {}); // told by the error event
    try {
      await first;
    } finally {
      clearTimeout(timer);
      this.#onFirst = undefined;
    }
  }

  get isUp(): boolean {
    return this.#facts !== undefined;
  }

  /**
   * Sends one command.
   * @param what for the error: "take a claim"
   * @throws {StoreUnavailableError} if there is no answer within 500 ms, or Redis refuses
   */
  run(what: string, send: (redis: RedisClient<Scripts>, facts: ServerFacts) => Promise<unknown>): Promise<unknown> {
    const facts = this.#facts;
    if (this.#isClosing) return Promise.reject(new StoreUnavailableError(`Cannot ${what}: the store is closed`));
    if (facts === undefined) {
      countRedisFailure(this.#options.purpose, "away");
      return Promise.reject(
        new StoreUnavailableError(
          `Cannot ${what}: there is no connection to ${this.#address.label} (${this.#trouble})`,
        ),
      );
    }
    this.#cork();
    const sent = { sentAt: this.#clock.now };
    this.#unanswered.add(sent);
    this.#endWatch ??= this.#watch(ANSWER_MS);
    return send(this.#redis, facts).then(
      (value) => {
        this.#answered(sent);
        return value;
      },
      (error: unknown) => {
        this.#answered(sent);
        countRedisFailure(this.#options.purpose, error instanceof ReplyError ? "refused" : "lost");
        if (error instanceof ReplyError) this.#logRefusal(what, (error as Error).message);
        throw new StoreUnavailableError(`Cannot ${what}: ${this.#explain(error)}`);
      },
    );
  }

  /** Waits for what has been sent, and disconnects. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#onFirst?.();
    this.#observed[Symbol.dispose]();
    if (this.#unanswered.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#endWatch?.();
    this.#endHandshake?.();
    const { status } = this.#redis;
    const ended = new Promise((resolve) => this.#redis.once("end", resolve));
    this.#redis.disconnect();
    if (status === "connecting" || status === "connect" || status === "ready")
      await Promise.race([ended, sleep(2 * DISCONNECT_MS, undefined, { ref: false })]);
  }

  /** When to connect again, as whom the address says by then. One that cannot be read changes nothing. */
  #nextAttempt(): number {
    try {
      const { username, password, sentinelUsername, sentinelPassword } = serverOptions(
        this.#address.again?.() ?? this.#address,
        undefined,
      );
      Object.assign(this.#redis.options, { username, password, sentinelUsername, sentinelPassword });
    } catch (error) {
      this.#trouble = `its address cannot be read again: ${reasonOf(error)}`;
    }
    return backoffMs(++this.#failures, { maxMs: 2_000 });
  }

  #answered(sent: { readonly sentAt: number }): void {
    this.#unanswered.delete(sent);
    if (this.#unanswered.size === 0) this.#onIdle?.();
  }

  /** One timer for all commands, which is about the oldest of them: each of their own would cost more than the rest. */
  #watch(ms: number): () => void {
    return this.#clock.after(ms, () => {
      const [oldest] = this.#unanswered;
      const leftMs = oldest === undefined ? 0 : oldest.sentAt + ANSWER_MS - this.#clock.now;
      this.#endWatch = oldest === undefined ? undefined : this.#watch(leftMs > 0 ? leftMs : ANSWER_MS);
      if (oldest !== undefined && leftMs <= 0) this.#giveUp();
    });
  }

  /** A connection that does not answer is given up: it may never, and unanswered commands would pile up. */
  #giveUp(): void {
    this.#trouble = NO_ANSWER;
    this.#redis.stream.destroy(new Error(NO_ANSWER));
  }

  #answer<T>(answer: Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const callOff = this.#clock.after(ANSWER_MS, () => {
      this.#giveUp();
      reject(new Error(NO_ANSWER));
    });
    return Promise.race([answer, late]).finally(callOff);
  }

  /** Commands that are sent in one go leave as one write. */
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#redis;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  #explain(error: unknown): string {
    // An error of Redis holds the whole command besides, so only its text goes further.
    if (error instanceof ReplyError) return `${this.#address.label} refuses (${(error as Error).message})`;
    return `the connection to ${this.#address.label} is lost (${this.#trouble})`;
  }

  /**
   * Otherwise work that waits for its next turn would hide it. A refusal of one kind is said once a minute, however
   * many commands it hits.
   */
  #logRefusal(what: string, reason: string): void {
    const [kind = ""] = reason.split(" ", 1);
    const now = performance.now();
    if (now - (this.#refusals.get(kind) ?? Number.NEGATIVE_INFINITY) < REFUSAL_TOLD_MS) return;
    this.#refusals.set(kind, now);
    this.#options.log.warn({ redis: this.#address.label, attempt: what, reason }, "Redis refuses a command");
  }

  #watchHandshake(): void {
    const { stream } = this.#redis;
    this.#endHandshake?.();
    this.#endHandshake = this.#clock.after(PREPARE_MS, () =>
      stream.destroy(new Error(`not ready within ${PREPARE_MS} ms`)),
    );
  }

  async #prepare(): Promise<void> {
    const { stream } = this.#redis;
    try {
      const { prepare = () => this.#redis.ping(), needsFacts = false } = this.#options;
      const info = this.#redis.info();
      const facts = readServerFacts(await this.#answer(needsFacts ? info : info.catch(nothingIfForbidden)));
      if (facts.isReplica)
        throw new UnfitServerError("it is a replica, which takes no writes: give the address that leads to the master");
      await this.#answer(prepare(this.#redis, facts));
      if (stream.destroyed || this.#isClosing) return;
      this.#endHandshake?.();
      this.#facts = facts;
      this.#failures = 0;
      this.#trouble = "the other side has closed it"; // unless an error says more
      this.#loggedTrouble = undefined;
      this.#options.log.info({ redis: this.#address.label }, "connected to Redis");
      this.#onFirst?.();
    } catch (error) {
      if (error instanceof ReplyError || error instanceof UnfitServerError) this.#onError(error); // another tells itself by an event
      stream.destroy();
    }
  }

  #onError(error: unknown): void {
    const reason = reasonOf(error).replace(/ Retrying from scratch after [\d.]+ms\./, ""); // of ioredis, which is another each time
    this.#trouble = reason;
    if (reason.startsWith(NO_SENTINEL)) this.#logTrouble(); // no connection has been made that could close
    if (!/^(WRONGPASS|NOAUTH|NOPERM|ERR (AUTH|invalid DB|DB index))/.test(reason)) return;
    this.#redis.stream.destroy(); // ioredis would go on in another database than the one asked for
    this.#onFirst?.(
      new StoreUnavailableError(
        `Cannot use ${this.#address.label} for ${this.#options.purpose}: it refuses (${reason})`,
      ),
    );
  }

  #onClose(): void {
    this.#facts = undefined;
    this.#endHandshake?.();
    this.#logTrouble();
  }

  #logTrouble(): void {
    if (this.#isClosing || this.#trouble === this.#loggedTrouble) return;
    this.#loggedTrouble = this.#trouble;
    this.#options.log.warn(
      { redis: this.#address.label, reason: this.#trouble, untilBack: this.#options.whileAway },
      "no connection to Redis",
    );
  }
}

/** Where ioredis connects to, and as whom. */
function serverOptions(
  { host, port, db, username, password, isTls, sentinels }: RedisAddress,
  ca: string | undefined,
): Omit<RedisOptions, "replyMapping"> {
  const tls = isTls ? { tls: ca === undefined ? {} : { ca } } : {};
  const as = { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
  if (sentinels === undefined) return { host, port, db, ...as, ...tls };
  return {
    sentinels: [...sentinels.nodes],
    name: sentinels.master,
    db,
    ...as,
    ...(sentinels.isOpen || username === undefined ? {} : { sentinelUsername: username }),
    ...(sentinels.isOpen || password === undefined ? {} : { sentinelPassword: password }),
    ...tls,
    ...(tls.tls === undefined ? {} : { sentinelTLS: tls.tls, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: SENTINEL_MS,
    failoverDetector: false, // a lost master closes its connections, or does not answer: then the Sentinels are asked
  };
}

/** The server's facts are good to know, not needed. */
function nothingIfForbidden(error: Error): string {
  if (error.message.startsWith("NOPERM")) return "";
  throw error;
}
