import type { Load, LoopResult } from "../closed-loop.ts";

/** One round of one contender in one case. */
export interface Round extends LoopResult, Load {
  readonly contender: string;
  readonly round: number;
  /** The processor time of the service, and of the parts between it and the caller. */
  readonly serviceCpuUs: number;
  readonly brokerCpuUs: number;
  readonly redisCpuUs: number;
}

/** A contender in one case: medians over its rounds. */
export interface Summary {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly callerUs: number;
  readonly serviceUs: number;
  readonly brokerUs: number;
  readonly redisUs: number;
  /** The ratios to the reference in the same round: median and quartiles over the rounds. */
  readonly ratios: Readonly<Record<Measure, Quartiles>>;
}

export interface Quartiles {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

export type Measure = keyof typeof measures;

const callsPerSecond = ({ calls, elapsedMs }: Round): number => (1_000 * calls) / elapsedMs;

/** What is compared, of one round. CPU is per call, in microseconds. */
const measures = {
  callsPerSecond,
  p50: ({ p50Ms }: Round): number => p50Ms,
  ownCpu: ({ calls, cpuUs, serviceCpuUs }: Round): number => (cpuUs + serviceCpuUs) / calls,
  allCpu: ({ calls, cpuUs, serviceCpuUs, brokerCpuUs, redisCpuUs }: Round): number =>
    (cpuUs + serviceCpuUs + brokerCpuUs + redisCpuUs) / calls,
};

/** @param references the rounds of the reference; a round that one of the two has failed in has no ratio */
export function summarize(rounds: readonly Round[], references: readonly Round[]): Summary {
  const referenceOf = new Map(references.map((reference) => [reference.round, reference]));
  const pairs = rounds.flatMap((round) => {
    const reference = referenceOf.get(round.round);
    return reference === undefined ? [] : [{ round, reference }];
  });
  const median = (of: (round: Round) => number): number => quartiles(rounds.map(of)).median;
  const ratio = (of: (round: Round) => number): Quartiles =>
    quartiles(pairs.map(({ round, reference }) => of(round) / of(reference)));
  return {
    callsPerSecond: median(callsPerSecond),
    p50Ms: median(measures.p50),
    callerUs: median(({ cpuUs, calls }) => cpuUs / calls),
    serviceUs: median(({ serviceCpuUs, calls }) => serviceCpuUs / calls),
    brokerUs: median(({ brokerCpuUs, calls }) => brokerCpuUs / calls),
    redisUs: median(({ redisCpuUs, calls }) => redisCpuUs / calls),
    ratios: {
      callsPerSecond: ratio(callsPerSecond),
      p50: ratio(measures.p50),
      ownCpu: ratio(measures.ownCpu),
      allCpu: ratio(measures.allCpu),
    },
  };
}

function quartiles(values: readonly number[]): Quartiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const [below = Number.NaN, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    return below + (above - below) * (place % 1);
  };
  return { low: at(0.25), median: at(0.5), high: at(0.75) };
}
