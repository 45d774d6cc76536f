import { metrics, type ObservableResult } from "@opentelemetry/api";

/** Why a sandbox was thrown away. */
export const SandboxFate = {
  /** A script ran in it. */
  Used: "used",
  /** Nobody wanted it for long. */
  Idle: "idle",
  /** It ended by itself before a script came. */
  Gone: "gone",
  /** Whom it was made for has given up, or could not have it. */
  Unwanted: "unwanted",
} as const;
export type SandboxFate = (typeof SandboxFate)[keyof typeof SandboxFate];

/** How many sandboxes there are, by state, and how many scripts wait for one. */
export interface PoolCounts {
  readonly warm: number;
  readonly busy: number;
  readonly making: number;
  readonly ending: number;
  readonly waiting: number;
}

export interface PoolMetrics extends Disposable {
  ended(fate: SandboxFate): void;
  makingFailed(): void;
  waited(ms: number, isWarm: boolean): void;
}

/** Shows a pool's counts, for as long as this is not disposed of, and takes what happens in it. */
export function poolMetrics(kind: string, read: () => PoolCounts): PoolMetrics {
  const meter = metrics.getMeter("@rockbot/sandbox");
  const sandboxes = meter.createObservableGauge("rockbot.script.sandboxes", {
    description: "Sandboxes for scripts, by state.",
  });
  const waiting = meter.createObservableGauge("rockbot.script.waiting", {
    description: "Scripts that wait for a sandbox.",
  });
  const ends = meter.createCounter("rockbot.script.sandboxes.ended", {
    description: "Sandboxes that were discarded, by reason.",
  });
  const failures = meter.createCounter("rockbot.script.sandboxes.failed", {
    description: "Sandboxes that could not be made.",
  });
  const wait = meter.createHistogram("rockbot.script.wait.duration", {
    unit: "ms",
    description: "Time from a script's arrival to its sandbox.",
  });
  const observeSandboxes = (result: ObservableResult): void => {
    const { warm, busy, making, ending } = read();
    for (const [state, count] of Object.entries({ warm, busy, making, ending })) result.observe(count, { kind, state });
  };
  const observeWaiting = (result: ObservableResult): void => result.observe(read().waiting, { kind });
  sandboxes.addCallback(observeSandboxes);
  waiting.addCallback(observeWaiting);
  return {
    ended: (fate) => ends.add(1, { kind, fate }),
    makingFailed: () => failures.add(1, { kind }),
    waited: (ms, isWarm) => wait.record(ms, { kind, is_warm: isWarm }),
    [Symbol.dispose]() {
      sandboxes.removeCallback(observeSandboxes);
      waiting.removeCallback(observeWaiting);
    },
  };
}
