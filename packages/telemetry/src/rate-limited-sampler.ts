import { type Counter, metrics } from "@opentelemetry/api";
import { type Sampler, SamplingDecision, type SamplingResult } from "@opentelemetry/sdk-trace";

export interface RateLimitedSamplerOptions {
  /** So many traces are recorded in a second at most, and as many at once after a pause. */
  readonly perSecond: number;
  /** In milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined;
}

const RECORDED: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const LEFT_OUT: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/**
 * Records each trace while there are few, and no more than so many of them when there are many: whole traces are left out, instead of
 * spans of any trace, which is what a full queue of spans does. For roots only, within a ParentBasedSampler. What is left out has ids
 * all the same, and is counted in `rockbot.traces.left_out`.
 */
export class RateLimitedSampler implements Sampler {
  readonly #perSecond: number;
  readonly #now: () => number;
  #leftOut: Counter | undefined;
  #tokens: number;
  #at: number;

  constructor({ perSecond, now = () => performance.now() }: RateLimitedSamplerOptions) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#tokens = perSecond;
    this.#at = now();
  }

  shouldSample(): SamplingResult {
    const now = this.#now();
    this.#tokens = Math.min(this.#perSecond, this.#tokens + ((now - this.#at) * this.#perSecond) / 1000);
    this.#at = now;
    if (this.#tokens < 1) {
      this.#leftOut ??= countLeftOut();
      this.#leftOut.add(1);
      return LEFT_OUT;
    }
    this.#tokens -= 1;
    return RECORDED;
  }

  toString(): string {
    return `RateLimitedSampler{${this.#perSecond}}`;
  }
}

/** Made with the first that is left out: the sampler is there before what counts. */
const countLeftOut = (): Counter =>
  metrics.getMeter("@rockbot/telemetry").createCounter("rockbot.traces.left_out", {
    description: "Traces that were begun here and not recorded, since there were more than are recorded in a second.",
  });
