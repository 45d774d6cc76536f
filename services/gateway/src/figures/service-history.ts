import type { ServiceCalls } from "@rockbot/console/api";
import { CallSum } from "./call-sum.ts";
import { DayOfMinutes, MINUTE_MS, type Minute } from "./day-of-minutes.ts";
import { RecentSums } from "./recent-sums.ts";

const SLOT_MS = 5_000;

/** What is known of the calls of one service, or of all, over its instances and their starts. */
export class ServiceHistory {
  readonly day = new DayOfMinutes();
  readonly #sinceMs: number;
  readonly #lastMinute = new RecentSums(SLOT_MS, MINUTE_MS / SLOT_MS);
  readonly #lastHour = new RecentSums(MINUTE_MS, 60);
  #minute: number;
  #sum = new CallSum();
  #gauges: Gauges = { inFlight: 0, oldestMs: 0 };
  /** When it last said anything; 0 if it has not. */
  seenAt = 0;

  /** @param now Unix milliseconds */
  constructor(now: number) {
    this.#sinceMs = now;
    this.#minute = Math.floor(now / MINUTE_MS);
  }

  /** @returns the minute that has ended by that, if one has */
  add(now: number, counts: CallSum["counts"], gauges: Gauges): number | undefined {
    const ended = this.#turn(now);
    this.seenAt = now;
    this.#gauges = gauges;
    if (counts.outcomes.some(({ count }) => count > 0)) {
      this.#sum.add(counts);
      this.#lastMinute.add(now, counts);
      this.#lastHour.add(now, counts);
    }
    return ended;
  }

  now(now: number): ServiceCalls {
    const minute = this.#lastMinute.total(now);
    const hour = this.#lastHour.total(now);
    const overMs = Math.min(MINUTE_MS, Math.max(1_000, now - this.#sinceMs));
    return {
      perSecond: minute.ended / (overMs / 1_000),
      p50: minute.quantile(0.5),
      p95: minute.quantile(0.95),
      ended: hour.ended,
      failed: hour.failed,
      codes: hour.failures,
      ...this.#gauges,
    };
  }

  /** The row of a minute; undefined if nobody heard of the service then. */
  row(minute: number): Minute | undefined {
    return minute === this.#minute && this.seenAt > 0 ? this.#rowOfSum() : this.day.get(minute);
  }

  #turn(now: number): number | undefined {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute === this.#minute) return undefined;
    const ended = this.seenAt > 0 ? this.#minute : undefined;
    if (ended !== undefined) this.day.put(this.#rowOfSum());
    this.#sum = new CallSum();
    this.#minute = minute;
    return ended;
  }

  #rowOfSum(): Minute {
    const { ended, failed } = this.#sum;
    return { minute: this.#minute, ended, failed, p50: this.#sum.quantile(0.5), p95: this.#sum.quantile(0.95) };
  }
}

/** Counts of this moment. */
export type Gauges = Pick<ServiceCalls, "inFlight" | "oldestMs">;
