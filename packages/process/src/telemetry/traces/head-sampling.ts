import { type Context, type Counter, metrics, type SpanContext, TraceFlags } from "@opentelemetry/api";
import { Buckets, type Charge } from "@rockbot/base";
import { traceOriginOf } from "@rockbot/bus";

export interface HeadSamplingOptions {
  /** The share of traces that begin here and are recorded, from 0 to 1. @default 1 */
  readonly ratio?: number | undefined;
  /** The clock, in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined;
}

/**
 * More than agents make, and what a collector takes without a thought. To record and send all spans of a call takes as
 * long as all else for it.
 */
const PER_SECOND = 100;
/** The flags of one stranger that count in a second, and those of all: as much as that stranger's own process records. */
const STRANGER_PER_SECOND = 100;
const STRANGERS_PER_SECOND = 1_000;
/** Beyond, the one that has been silent for longest is forgotten. A bus that verifies nobody has names made up. */
const MAX_STRANGERS = 10_000;

/** What is left out: traces, or the spans that stand for a call of such a trace. */
type LeftOut = "begun_here" | "asked_by_caller" | "failed_or_slow";

/**
 * Decides where a trace enters this process whether it is recorded. It takes the share that was asked for
 * of those that begin here while there are few, and no more than so many when there are many. It leaves out whole traces, where a
 * full queue of spans would leave out spans of any trace. For others the flag of the sender counts: ours always,
 * a stranger's up to a rate. A trace that is left out has ids all the same, and is counted unless the share leaves it
 * out.
 */
export class HeadSampling {
  readonly #ratio: number;
  readonly #buckets: Buckets;
  #leftOut: Counter | undefined;

  constructor({ ratio = 1, now }: HeadSamplingOptions = {}) {
    this.#ratio = ratio;
    this.#buckets = new Buckets({ clock: now, maxBuckets: MAX_STRANGERS });
  }

  /** @param parent undefined where the trace begins here */
  isRecorded(context: Context, parent: SpanContext | undefined): boolean {
    if (parent === undefined) return Math.random() < this.#ratio && this.#has("begun_here", [OWN]);
    if ((parent.traceFlags & TraceFlags.SAMPLED) === 0) return false;
    const stranger = parent.isRemote === true ? traceOriginOf(context) : undefined;
    return (
      stranger === undefined ||
      this.#has("asked_by_caller", [
        { key: `stranger ${stranger}`, amount: STRANGER_PER_SECOND, perMs: 1_000, cost: 1 },
        STRANGERS,
      ])
    );
  }

  /** Tells whether one more span is sent that stands alone for a call whose trace is not recorded. */
  isKept(): boolean {
    return this.#has("failed_or_slow", [KEPT]);
  }

  #has(which: LeftOut, charges: readonly Charge[]): boolean {
    if (this.#buckets.take(charges) === undefined) return true;
    this.#leftOut ??= countLeftOut();
    this.#leftOut.add(1, { which });
    return false;
  }
}

const OWN: Charge = { key: "own", amount: PER_SECOND, perMs: 1_000, cost: 1 };
const KEPT: Charge = { key: "kept", amount: PER_SECOND, perMs: 1_000, cost: 1 };
const STRANGERS: Charge = { key: "strangers", amount: STRANGERS_PER_SECOND, perMs: 1_000, cost: 1 };

/** Made with the first that is left out: this is there before what counts. */
const countLeftOut = (): Counter =>
  metrics.getMeter("@rockbot/telemetry").createCounter("rockbot.traces.left_out", {
    description:
      "Traces that were not recorded as there were too many in a second, and single spans of failed or slow calls, by which.",
  });
