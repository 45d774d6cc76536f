import { within } from "@rockbot/base";
import { isRefusedUnseen, isTimeOut } from "./call/call-error.ts";
import type { McpConnection } from "./connect-mcp.ts";

/** Times, in milliseconds. */
export interface WatchTimes {
  /** How often it is looked whether a server has been silent for too long. */
  readonly lookMs: number;
  /** How long a server may be silent while a call waits for it. */
  readonly quietMs: number;
  /** How long it may be silent otherwise. */
  readonly idleMs: number;
  /** How long it gets to answer a ping, and then a question for its tools. */
  readonly answerMs: number;
  /** How long a program that uses the processor, and says nothing, counts as busy. */
  readonly busyMs: number;
}

export const WATCH_TIMES: WatchTimes = {
  lookMs: 2_000,
  quietMs: 10_000,
  idleMs: 30_000,
  answerMs: 5_000,
  busyMs: 5 * 60_000,
};
/** A program that uses a smaller share of a processor does nothing. */
const BUSY_SHARE = 0.05;

/** `busy`: it says nothing, and there is a reason to believe that it works. */
export type Liveness = "alive" | "busy" | "hung";

interface CallOut {
  readonly sentAt: number;
  /** The first that was sent since the server was heard: that it says nothing may be this call's work. */
  readonly isFirst: boolean;
}

/**
 * Finds out whether a server that is connected and says nothing lives. Any message of it counts, also a refusal. A
 * server that works on one thing at a time says nothing meanwhile. It is busy, not hung, as long as one of the calls
 * that may keep it so has time left. Further calls do not prolong that.
 */
export class ServerWatch {
  readonly #connection: McpConnection;
  readonly #times: WatchTimes;
  readonly #out = new Set<CallOut>();
  #lastSentAt = Number.NEGATIVE_INFINITY;
  #isSuspect = false;
  /** As it was last. */
  #isBusy = false;

  constructor(connection: McpConnection, times: WatchTimes) {
    this.#connection = connection;
    this.#times = times;
  }

  /** A call is sent; disposal says that it has ended. */
  sent(): Disposable {
    const call = { sentAt: performance.now(), isFirst: this.#lastSentAt <= this.#connection.heardAt };
    this.#lastSentAt = call.sentAt;
    this.#out.add(call);
    return { [Symbol.dispose]: () => void this.#out.delete(call) };
  }

  /**
   * A call that was sent so long ago has had no time left: if nothing was heard since, the server is looked at soon.
   */
  timedOut(afterMs: number): boolean {
    if (performance.now() - this.#connection.heardAt < afterMs) return false;
    this.#isSuspect = true;
    return true;
  }

  /** True if the server has been silent for so long that it needs a ping. */
  get isDue(): boolean {
    const { heardAt } = this.#connection;
    const now = performance.now();
    const waitingSince = Math.min(...[...this.#out].map(({ sentAt }) => sentAt));
    return (
      this.#isSuspect ||
      now - heardAt >= this.#times.idleMs ||
      now - Math.max(heardAt, waitingSince) >= this.#times.quietMs
    );
  }

  /**
   * Asks the server whether it lives: by a ping, then for its tools, once while it is busy. Takes twice `answerMs` at
   * most.
   */
  async look(signal: AbortSignal): Promise<Liveness> {
    const liveness = await this.#ask(signal);
    this.#isBusy = liveness === "busy";
    return liveness;
  }

  async #ask(signal: AbortSignal): Promise<Liveness> {
    const { answerMs, busyMs } = this.#times;
    this.#isSuspect = false;
    const startedAt = performance.now();
    const before = await this.#connection.activity();
    const isHeard = (): boolean => this.#connection.heardAt >= startedAt;
    const questions: readonly (() => Promise<unknown>)[] = [
      () => this.#connection.ping({ timeoutMs: answerMs, signal }),
      ...(this.#isBusy ? [] : [() => this.#connection.listTools({ timeoutMs: answerMs, signal })]),
    ];
    for (const ask of questions) {
      const failure: unknown = await within(answerMs, ask(), () => new SilentError()).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (isHeard() || signal.aborted) return "alive";
      if (isRefusedUnseen(failure)) return "hung";
      if (!isSilence(failure)) return "alive";
    }
    const after = await this.#connection.activity();
    if (after?.isStopped) return "hung";
    if (this.#isAtWork()) return "busy";
    const usedMs = (after?.cpuMs ?? 0) - (before?.cpuMs ?? 0);
    const isComputing = usedMs >= BUSY_SHARE * (performance.now() - startedAt);
    return isComputing && performance.now() - this.#connection.heardAt < busyMs ? "busy" : "hung";
  }

  #isAtWork(): boolean {
    const { heardAt } = this.#connection;
    return [...this.#out].some(({ sentAt, isFirst }) => isFirst || sentAt <= heardAt);
  }
}

class SilentError extends Error {
  override readonly name = "SilentError";
}

/** True if nothing came in time, for which the SDK has several errors. */
const isSilence = (error: unknown): boolean =>
  error instanceof SilentError || isTimeOut(error) || (error as Error | undefined)?.name === "TimeoutError";
