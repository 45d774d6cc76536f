/** The bytes of one minute of a service: see DayOfMinutes of the gateway. */
export const ROW_BYTES = 20;
/** The bytes of a day of minutes. */
export const DAY_BYTES = 1_440 * ROW_BYTES;
/** Services whose days are kept. Redis needs at most twice the bytes of each: all together stay below 16 MiB. */
export const MAX_DAYS = 250;

/** Days of services' calls that gateways share. */
export interface FigureStore extends AsyncDisposable {
  /** @throws {StoreUnavailableError} */
  load(): Promise<ReadonlyMap<string, Buffer>>;
  /**
   * Keeps the row of a minute, unless a kept row of the same minute counts more calls.
   * @returns the row that is kept; undefined if too many services have one
   * @throws {StoreUnavailableError}
   */
  keep(service: string, row: FigureRow): Promise<Buffer | undefined>;
}

/** The row of one minute, and where it lies in a day. */
export interface FigureRow {
  readonly at: number;
  readonly bytes: Buffer;
}
