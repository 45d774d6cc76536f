import { OldestFirstMap } from "@rockbot/base";
import type { CallMinute, CallsOfDay, ServiceCalls } from "@rockbot/console/api";
import { MAX_DAYS } from "@rockbot/records/figures";
import type { InstanceReport } from "@rockbot/tools";
import { CallSum, grownSince } from "./call-sum.ts";
import { MINUTE_MS, MINUTES_OF_DAY } from "./day-of-minutes.ts";
import { type Gauges, ServiceHistory } from "./service-history.ts";

const MAX_INSTANCES = 5_000;
/** An instance that began so lately, and was not heard of before, has done nothing that has been counted. */
const NEW_MS = MINUTE_MS;
/** How long figures stand that nobody confirms. */
const FRESH_MS = 10_000;
/** The key of all services together, which no service has as its name. */
const ALL = "*";
const NOTHING = new CallSum().counts;

export interface ServiceFiguresOptions {
  /** The last words of each service's instances. */
  readonly reports: () => ReadonlyMap<string, readonly InstanceReport[]>;
  /** Unix milliseconds. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

/**
 * Adds up what instances of services say of their calls, for the last minute, hour and day. A service that says nothing
 * has no figures.
 */
export class ServiceFigures {
  readonly #options: ServiceFiguresOptions;
  /** Told of each minute that is over. */
  onMinute: (service: string, minute: number) => void = () => {};
  readonly #clock: () => number;
  readonly #histories = new Map<string, ServiceHistory>();
  /** The last counts of each instance, also of one that is not heard of for a while. */
  readonly #counted = new OldestFirstMap<string, CallSum["counts"]>();

  constructor(options: ServiceFiguresOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
  }

  /** Takes what instances have said since the last time. */
  tick(): void {
    const now = this.#clock();
    const sum = new CallSum();
    const gauges = { inFlight: 0, oldestMs: 0 };
    let isAnyKnown = false;
    for (const [service, reports] of this.#options.reports()) {
      if (reports.every(({ calls }) => calls === undefined)) continue;
      const own = new CallSum();
      const ownGauges = { inFlight: 0, oldestMs: 0 };
      for (const report of reports) this.#count(service, report, { own, gauges: ownGauges, now });
      isAnyKnown = true;
      sum.add(own.counts);
      gauges.inFlight += ownGauges.inFlight;
      gauges.oldestMs = Math.max(gauges.oldestMs, ownGauges.oldestMs);
      this.#add(service, now, own.counts, ownGauges);
    }
    if (isAnyKnown) this.#add(ALL, now, sum.counts, gauges);
    else if (this.#histories.has(ALL)) this.#add(ALL, now, NOTHING, gauges);
  }

  /** The figures of now; null of a service that does not say. @param service @default all together */
  of(service: string = ALL): ServiceCalls | null {
    const now = this.#clock();
    const history = this.#histories.get(service);
    return history === undefined || now - history.seenAt > FRESH_MS ? null : history.now(now);
  }

  /** The last hour of all services, oldest first. */
  get lastHour(): readonly CallMinute[] {
    const { from, ended, failed, p50, p95 } = this.minutes(ALL, 60);
    return ended.map((count, index) => ({
      at: from + index * MINUTE_MS,
      ended: count,
      failed: failed[index] ?? null,
      p50: p50[index] ?? null,
      p95: p95[index] ?? null,
    }));
  }

  /** The last minutes, oldest first, with null where nothing is known. */
  minutes(service: string = ALL, count = MINUTES_OF_DAY): CallsOfDay {
    const first = Math.floor(this.#clock() / MINUTE_MS) - count + 1;
    const history = this.#histories.get(service);
    const rows = Array.from({ length: count }, (_, index) => history?.row(first + index));
    return {
      from: first * MINUTE_MS,
      ended: rows.map((row) => row?.ended ?? null),
      failed: rows.map((row) => row?.failed ?? null),
      p50: rows.map((row) => row?.p50 ?? null),
      p95: rows.map((row) => row?.p95 ?? null),
    };
  }

  /** The history of a service that is known, or may become so; undefined if too many are. */
  history(service: string): ServiceHistory | undefined {
    const known = this.#histories.get(service);
    if (known !== undefined) return known;
    if (this.#histories.size >= MAX_DAYS) this.#forgetOne();
    if (this.#histories.size >= MAX_DAYS) return undefined;
    const history = new ServiceHistory(this.#clock());
    this.#histories.set(service, history);
    return history;
  }

  #count(
    service: string,
    { instance, epoch, calls }: InstanceReport,
    { own, gauges, now }: { readonly own: CallSum; readonly gauges: Mutable<Gauges>; readonly now: number },
  ): void {
    if (calls === undefined) return;
    const key = `${service} ${instance}`;
    const before = this.#counted.get(key) ?? (epoch > now - NEW_MS ? NOTHING : calls);
    own.add(grownSince(before, calls));
    gauges.inFlight += calls.inFlight;
    gauges.oldestMs = Math.max(gauges.oldestMs, calls.oldestMs);
    this.#counted.set(key, calls);
    this.#counted.deleteOldestWhile(() => this.#counted.size > MAX_INSTANCES);
  }

  #add(service: string, now: number, counts: CallSum["counts"], gauges: Gauges): void {
    const ended = this.history(service)?.add(now, counts, gauges);
    if (ended !== undefined) this.onMinute(service, ended);
  }

  /** Room for a new service is that of one which has been silent for a day. */
  #forgetOne(): void {
    const now = this.#clock();
    for (const [service, { seenAt }] of this.#histories)
      if (now - seenAt > MINUTES_OF_DAY * MINUTE_MS) {
        this.#histories.delete(service);
        return;
      }
  }
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
