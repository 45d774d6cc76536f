import {
  type Attributes,
  type Counter,
  diag,
  type Histogram,
  type Meter,
  type MeterOptions,
  type MeterProvider,
  type MetricOptions,
  type Observable,
  type UpDownCounter,
} from "@opentelemetry/api";
import { AttributeCells, NO_ATTRIBUTES } from "./attribute-cells.ts";
import type { Durations } from "./durations.ts";

/**
 * The SDK's instruments, but that counts and milliseconds are added up here and fetched when somebody reads them. The
 * SDK looks each record's attributes up by a text that it makes of them: 1 µs a record, and a tool call has eighteen.
 */
export class TallyMeterProvider implements MeterProvider {
  readonly #sdk: MeterProvider;
  readonly #durations: Durations | undefined;
  readonly #meters = new Map<string, Meter>();

  /** @param durations makes the histograms of milliseconds; without it the SDK does */
  constructor(sdk: MeterProvider, durations: Durations | undefined) {
    this.#sdk = sdk;
    this.#durations = durations;
  }

  getMeter(name: string, version?: string, options?: MeterOptions): Meter {
    const key = `${name} ${version ?? ""} ${options?.schemaUrl ?? ""}`;
    const known = this.#meters.get(key);
    if (known !== undefined) return known;
    const meter = tallyMeter(this.#sdk.getMeter(name, version, options), name, this.#durations);
    this.#meters.set(key, meter);
    return meter;
  }
}

function tallyMeter(sdk: Meter, meterName: string, durations: Durations | undefined): Meter {
  const tallies = new Map<string, Tally>();
  /** One tally for a name, however often it is asked for: the SDK would not add up what two of them observe. */
  function tally(name: string, canFall: boolean, observe: () => Observable): Tally {
    const known = tallies.get(name);
    if (known !== undefined && known.canFall === canFall) return known;
    const made = new Tally(name, canFall, observe());
    tallies.set(name, made);
    return made;
  }
  return {
    createCounter: (name, options): Counter => tally(name, false, () => sdk.createObservableCounter(name, options)),
    createUpDownCounter: (name, options): UpDownCounter =>
      tally(name, true, () => sdk.createObservableUpDownCounter(name, options)),
    createHistogram: (name, options): Histogram =>
      durations !== undefined && isDuration(name, options)
        ? durations.histogram({ meter: meterName, name, description: options?.description ?? "" })
        : sdk.createHistogram(name, options),
    createGauge: (name, options) => sdk.createGauge(name, options),
    createObservableGauge: (name, options) => sdk.createObservableGauge(name, options),
    createObservableCounter: (name, options) => sdk.createObservableCounter(name, options),
    createObservableUpDownCounter: (name, options) => sdk.createObservableUpDownCounter(name, options),
    addBatchObservableCallback: (callback, observables) => sdk.addBatchObservableCallback(callback, observables),
    removeBatchObservableCallback: (callback, observables) => sdk.removeBatchObservableCallback(callback, observables),
  };
}

/** True for a histogram whose buckets come from views.ts. */
const isDuration = (name: string, options: MetricOptions | undefined): boolean =>
  name.endsWith(".duration") && options?.unit === "ms";

class Tally implements Counter {
  readonly canFall: boolean;
  readonly #name: string;
  readonly #sums = new AttributeCells(() => ({ sum: 0 }));

  constructor(name: string, canFall: boolean, observed: Observable) {
    this.#name = name;
    this.canFall = canFall;
    observed.addCallback((result) => {
      for (const { attributes, cell } of this.#sums.entries()) result.observe(cell.sum, attributes);
    });
  }

  add(value: number, attributes: Attributes = NO_ATTRIBUTES): void {
    if (Number.isFinite(value) && (value >= 0 || this.canFall)) this.#sums.at(attributes).sum += value;
    else diag.warn(`${value} cannot be added to ${this.#name}`);
  }
}
