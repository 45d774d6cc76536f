import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "./contender.ts";
import { isAnswerTo, type PayloadKind, payloadMaker } from "./payload.ts";

/** What a case asks of all contenders alike. */
export interface Load {
  /** How many calls are out at once. */
  readonly concurrency: number;
  /** About the length of each call's payload. */
  readonly bytes: number;
  readonly payload: PayloadKind;
  /** How long each caller waits after an answer, as an agent does that thinks. */
  readonly thinkMs: number;
}

export interface LoopOptions extends Load {
  /** For how long new calls are made. */
  readonly ms: number;
}

export interface LoopResult {
  readonly calls: number;
  /** From the first call to the last answer. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of this process meanwhile. */
  readonly cpuUs: number;
}

/** A call without an answer for so long ends the run: a bench of lost calls measures nothing. */
const LOST_MS = 30_000;
let serial = 0;

/**
 * Calls as fast as answers come, or after a pause, each call with a payload of its own.
 * @throws {Error} if an answer is another call's, or does not come
 */
export async function closedLoop(
  caller: Caller,
  { ms, concurrency, bytes, payload, thinkMs }: LoopOptions,
): Promise<LoopResult> {
  const make = payloadMaker(payload, bytes);
  const latencies: number[] = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + ms;
  const { promise: lost, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`a call has no answer after ${LOST_MS} ms`)), ms + LOST_MS);

  async function callInTurn(): Promise<void> {
    for (let now = performance.now(); now < end; ) {
      const asked = make(serial++);
      const answer = await caller.call(asked);
      const then = performance.now();
      if (!isAnswerTo(asked, answer))
        throw new Error(`the answer to call ${serial - 1} is another: ${JSON.stringify(answer).slice(0, 40)}`);
      latencies.push(then - now);
      now = then;
      if (thinkMs > 0) {
        await sleep(thinkMs);
        now = performance.now();
      }
    }
  }
  try {
    await Promise.race([Promise.all(Array.from({ length: concurrency }, callInTurn)), lost]);
  } finally {
    clearTimeout(timer);
  }
  const elapsedMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? Number.NaN;
  return { calls: latencies.length, elapsedMs, p50Ms: at(0.5), p99Ms: at(0.99), cpuUs: user + system };
}
