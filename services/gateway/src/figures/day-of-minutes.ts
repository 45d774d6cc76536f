import { DAY_BYTES, type FigureRow, ROW_BYTES } from "@rockbot/records/figures";

/** One minute of a service's calls. */
export interface Minute {
  /** The minute, counted since 1970. */
  readonly minute: number;
  readonly ended: number;
  readonly failed: number;
  /** Milliseconds; null if no call ended. */
  readonly p50: number | null;
  readonly p95: number | null;
}

export const MINUTE_MS = 60_000;
export const MINUTES_OF_DAY = 1_440;

/** The last day of a service, a row for each minute in which it said what it does. Gateways share the bytes. */
export class DayOfMinutes {
  readonly #bytes = Buffer.alloc(DAY_BYTES);

  /** Keeps a row, unless a row of the same minute counts more: its gateway saw more of the minute. */
  put({ minute, ended, failed, p50, p95 }: Minute): void {
    const at = placeOf(minute);
    if (this.#bytes.readUInt32LE(at) === minute && this.#bytes.readUInt32LE(at + 4) > ended) return;
    this.#bytes.writeUInt32LE(minute, at);
    this.#bytes.writeUInt32LE(ended, at + 4);
    this.#bytes.writeUInt32LE(failed, at + 8);
    this.#bytes.writeFloatLE(p50 ?? Number.NaN, at + 12);
    this.#bytes.writeFloatLE(p95 ?? Number.NaN, at + 16);
  }

  /** Takes the rows of another gateway's day. */
  merge(bytes: Buffer): void {
    const other = new DayOfMinutes();
    bytes.copy(other.#bytes);
    for (let at = 0; at < other.#bytes.length; at += ROW_BYTES) {
      const minute = other.#bytes.readUInt32LE(at);
      const row = placeOf(minute) === at ? other.get(minute) : undefined;
      if (row !== undefined && minute >= this.#bytes.readUInt32LE(at)) this.put(row);
    }
  }

  get(minute: number): Minute | undefined {
    const at = placeOf(minute);
    if (minute === 0 || this.#bytes.readUInt32LE(at) !== minute) return undefined;
    const [p50, p95] = [this.#bytes.readFloatLE(at + 12), this.#bytes.readFloatLE(at + 16)];
    return {
      minute,
      ended: this.#bytes.readUInt32LE(at + 4),
      failed: this.#bytes.readUInt32LE(at + 8),
      p50: Number.isNaN(p50) ? null : p50,
      p95: Number.isNaN(p95) ? null : p95,
    };
  }

  /** The bytes of a minute's row, and where they lie in a day. */
  row(minute: number): FigureRow {
    const at = placeOf(minute);
    return { at, bytes: Buffer.from(this.#bytes.subarray(at, at + ROW_BYTES)) };
  }

  /** Takes the row of a minute as others have it. */
  mergeRow({ at, bytes }: FigureRow): void {
    const day = Buffer.alloc(DAY_BYTES);
    bytes.copy(day, at);
    this.merge(day);
  }
}

const placeOf = (minute: number): number => (minute % MINUTES_OF_DAY) * ROW_BYTES;
