import { type Attributes, diag, type Histogram, ValueType } from "@opentelemetry/api";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import { type HrTime, toHrTime } from "../metrics/hr-time.ts";
import { DURATION_BUCKETS_MS } from "../metrics/views.ts";
import { AttributeCells, NO_ATTRIBUTES } from "./attribute-cells.ts";

export interface DurationOptions {
  readonly meter: string;
  readonly name: string;
  readonly description: string;
}

/** Histograms of milliseconds, as a source for any reader that takes them cumulated since the start of the process. */
export class Durations implements MetricProducer {
  readonly #histograms = new Map<string, DurationHistogram>();

  /** The same histogram for the same meter and name. */
  histogram(options: DurationOptions): Histogram {
    const key = `${options.meter} ${options.name}`;
    const known = this.#histograms.get(key);
    if (known !== undefined) return known;
    const histogram = new DurationHistogram(options);
    this.#histograms.set(key, histogram);
    return histogram;
  }

  async collect(): Promise<CollectionResult> {
    const endTime = toHrTime(Date.now());
    const recorded = [...this.#histograms.values()].filter(({ isEmpty }) => !isEmpty);
    const byMeter = Map.groupBy(recorded, ({ options }) => options.meter);
    const scopeMetrics = [...byMeter].map(([name, histograms]) => ({
      scope: { name },
      metrics: histograms.map((each) => each.toMetricData(endTime)),
    }));
    return { errors: [], resourceMetrics: { resource: emptyResource(), scopeMetrics } };
  }
}

class DurationHistogram implements Histogram {
  readonly options: DurationOptions;
  readonly #cells = new AttributeCells(() => ({
    startTime: toHrTime(Date.now()),
    /** One more than there are bounds: the last is for all that is longer. */
    counts: new Array<number>(DURATION_BUCKETS_MS.length + 1).fill(0),
    count: 0,
    sum: 0,
  }));

  constructor(options: DurationOptions) {
    this.options = options;
  }

  get isEmpty(): boolean {
    for (const _ of this.#cells.entries()) return false;
    return true;
  }

  record(ms: number, attributes: Attributes = NO_ATTRIBUTES): void {
    if (Number.isFinite(ms) && ms >= 0) {
      const cell = this.#cells.at(attributes);
      const bucket = bucketOf(ms);
      cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1;
      cell.count++;
      cell.sum += ms;
    } else diag.warn(`A duration of ${ms} ms cannot be recorded in ${this.options.name}`);
  }

  toMetricData(endTime: HrTime): MetricData {
    return {
      descriptor: {
        name: this.options.name,
        description: this.options.description,
        unit: "ms",
        valueType: ValueType.DOUBLE,
      },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: Array.from(this.#cells.entries(), ({ attributes, cell: { startTime, counts, count, sum } }) => ({
        attributes,
        startTime,
        endTime,
        value: { buckets: { boundaries: DURATION_BUCKETS_MS, counts: [...counts] }, count, sum },
      })),
    };
  }
}

/** The first bucket whose bound is not exceeded. Most durations are short, so there is nothing to gain by halving. */
function bucketOf(ms: number): number {
  let bucket = 0;
  for (const bound of DURATION_BUCKETS_MS) {
    if (ms <= bound) return bucket;
    bucket++;
  }
  return bucket;
}
