import { StoreUnavailableError } from "@rockbot/records";

/**
 * The memory of what is approved, from one start to the next: records with names, each a JSON value. Several processes
 * may share one. A writer says which version it has read, so that it undoes nothing that it has not seen.
 *
 * Every operation rejects with StoreUnavailableError if it failed, or may have failed.
 */
export interface TrustStore extends AsyncDisposable {
  /** Where the records are, for people: `memory`, `Redis`, or a file. */
  readonly where: string;
  read(name: string): Promise<TrustRecord>;
  /**
   * Puts the value in the record's place, or removes the record if it is undefined.
   * @param version what was read; undefined: there was no record
   * @returns false if the record is of another version by now: nothing is written then
   */
  write(name: string, value: unknown, version: string | undefined): Promise<boolean>;
  /** The names of all records, sorted. */
  names(): Promise<readonly string[]>;
  /** How much of this there is. */
  room(): Promise<TrustRoom>;
  /** Another text whenever a record has changed since. */
  revision(): Promise<string>;
}

/** How many bytes records have. */
export interface TrustRoom {
  /** The sizes by the record's name. */
  readonly sizes: ReadonlyMap<string, number>;
  /** So many may those have that are kept because of one agent. */
  readonly mostPerAgent: number;
}

/** A record that is not there has neither value nor version. */
export interface TrustRecord {
  readonly value: unknown;
  readonly version: string | undefined;
}

/** The longest record as JSON, in characters. */
export const MAX_RECORD_LENGTH = 4 * 1024 * 1024;
/** For records that are not in Redis. */
export const MAX_BYTES_PER_AGENT = 16 * 1024 * 1024;
/** More servers than a bridge may have. */
export const MAX_RECORDS = 2_000;

/** For a store that has as many records as it may. */
export const noRoomFor = (name: string): StoreUnavailableError =>
  new StoreUnavailableError(`Cannot write the record "${name}": there are ${MAX_RECORDS} already`);

const MAX_ATTEMPTS = 20;

/**
 * Reads a record, changes it, and writes it, again if somebody else was faster.
 * @param change gives the new value, `undefined` to remove the record, or `unchanged`
 * @returns what the record is now
 */
export async function updateRecord(
  store: TrustStore,
  name: string,
  change: (value: unknown) => unknown,
): Promise<unknown> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const { value, version } = await store.read(name);
    const next = change(value);
    if (next === unchanged) return value;
    if (await store.write(name, next, version)) return next;
  }
  throw new StoreUnavailableError(
    `Cannot write the record "${name}": others have written it ${MAX_ATTEMPTS} times meanwhile`,
  );
}

/** For `updateRecord`: there is nothing to write. */
export const unchanged = Symbol("unchanged");
