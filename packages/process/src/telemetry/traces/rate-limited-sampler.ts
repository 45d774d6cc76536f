import { type Counter, metrics } from "@opentelemetry/api";
import { type Sampler, SamplingDecision, type SamplingResult } from "@opentelemetry/sdk-trace";
import { Buckets, type Charge } from "@rockbot/base";

export interface RateLimitedSamplerOptions {
  /** So many traces are recorded in a second at most, and as many at once after a pause. */
  readonly perSecond: number;
  /** The clock, in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined;
}

const RECORDED: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const LEFT_OUT: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/**
 * Records each trace while there are few, and no more than so many of them when there are many. It leaves out whole
 * traces, where a full queue of spans would leave out spans of any trace. For roots only, within a ParentBasedSampler.
 * A trace that is left out has ids all the same, and is counted in `rockbot.traces.left_out`.
 */
export class RateLimitedSampler implements Sampler {
  readonly #trace: readonly [Charge];
  readonly #buckets: Buckets;
  #leftOut: Counter | undefined;

  constructor({ perSecond, now }: RateLimitedSamplerOptions) {
    this.#trace = [{ key: "trace", amount: perSecond, perMs: 1_000, cost: 1 }];
    this.#buckets = new Buckets({ clock: now, maxBuckets: 1 });
  }

  shouldSample(): SamplingResult {
    if (this.#buckets.take(this.#trace) === undefined) return RECORDED;
    this.#leftOut ??= countLeftOut();
    this.#leftOut.add(1);
    return LEFT_OUT;
  }

  toString(): string {
    return `RateLimitedSampler{${this.#trace[0].amount}}`;
  }
}

/** Made with the first that is left out: the sampler is there before what counts. */
const countLeftOut = (): Counter =>
  metrics.getMeter("@rockbot/telemetry").createCounter("rockbot.traces.left_out", {
    description: "Traces that were begun here and not recorded, since there were more than are recorded in a second.",
  });
