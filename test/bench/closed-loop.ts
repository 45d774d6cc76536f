import type { Caller } from "./contender.ts";

export interface LoopOptions {
  /** For how long new calls are made. */
  readonly ms: number;
  /** How many calls are out at once. */
  readonly concurrency: number;
  /** The length of each call's text. */
  readonly bytes: number;
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

/** Calls as fast as answers come, each call with a text of its own. @throws {Error} if an answer is another call's, or does not come */
export async function closedLoop(caller: Caller, { ms, concurrency, bytes }: LoopOptions): Promise<LoopResult> {
  const padding = "x".repeat(bytes);
  const latencies: number[] = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + ms;
  const { promise: lost, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`a call has no answer after ${LOST_MS} ms`)), ms + LOST_MS);

  async function callInTurn(): Promise<void> {
    for (let now = performance.now(); now < end; ) {
      const text = `${serial++}:${padding}`.slice(0, bytes);
      const answer = await caller.call(text);
      if (answer !== text) throw new Error(`the answer to call ${text.slice(0, 12)} is ${JSON.stringify(answer.slice(0, 12))}`);
      const then = performance.now();
      latencies.push(then - now);
      now = then;
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
