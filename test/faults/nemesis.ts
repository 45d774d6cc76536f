import { setTimeout as sleep } from "node:timers/promises";

/** Something that can be made bad, and good again. */
export interface Fault {
  readonly name: string;
  begin(): Promise<void>;
  /** Resolves once what it happened to works again. */
  end(): Promise<void>;
}

/** One step of a schedule: after so long, this fault, for so long. */
export interface NemesisStep {
  readonly waitMs: number;
  readonly fault: string;
  readonly durationMs: number;
}

export interface PlanOptions {
  readonly faults: readonly string[];
  readonly steps: number;
  readonly maxWaitMs: number;
  readonly maxDurationMs: number;
}

/** A schedule of faults. The same random numbers give the same schedule, so a seed is enough to play it again. */
export function planFaults(
  random: () => number,
  { faults, steps, maxWaitMs, maxDurationMs }: PlanOptions,
): NemesisStep[] {
  return Array.from({ length: steps }, () => ({
    waitMs: Math.floor(random() * maxWaitMs),
    fault: faults[Math.floor(random() * faults.length)] ?? "",
    durationMs: Math.floor(random() * maxDurationMs),
  }));
}

/** Plays a schedule to its end, one fault after the other. */
export async function playFaults(steps: readonly NemesisStep[], faults: readonly Fault[]): Promise<void> {
  for (const { waitMs, fault: name, durationMs } of steps) {
    const fault = faults.find((one) => one.name === name);
    if (fault === undefined) throw new RangeError(`Cannot play "${name}": there is no such fault`);
    await sleep(waitMs);
    await fault.begin();
    await sleep(durationMs);
    await fault.end();
  }
}
