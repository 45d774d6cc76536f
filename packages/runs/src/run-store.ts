import type { Run, RunKey } from "./run.ts";

/** A run as the store has it. */
export interface StoredRun {
  readonly run: Run;
  /** Changes with each write. */
  readonly version: number;
  /** The store's clock, in Unix milliseconds. */
  readonly now: number;
}

/**
 * Keeps runs. It knows nothing of what they are: each change is a comparison with the version that was read. Every
 * operation rejects with StoreUnavailableError if the store does not answer in time. Then nothing is known about what
 * it did.
 */
export interface RunStore extends AsyncDisposable {
  /** A crash of the store may undo what it confirmed less than so many milliseconds ago; 0 if it undoes nothing. */
  readonly forgetsMs: number;
  /**
   * Writes a run that is not there.
   * @returns false if one of that caller and id is there
   * @throws {StoreFullError} if its caller has as many as it may, or as large ones
   */
  create(run: Run): Promise<boolean>;
  read(key: RunKey): Promise<StoredRun | undefined>;
  /** Replaces the version that was read. @returns false if it is another by now */
  replace(read: StoredRun, run: Run): Promise<boolean>;
  /** The runs of a service that have to be looked at, the most urgent first. */
  due(service: string, limit: number): Promise<Due>;
  /** The runs of a service that have not ended: first those that wait for people, then the others, the oldest first. */
  open(service: string, limit: number): Promise<readonly Run[]>;
  /** The runs of a service that have ended in the last day, none of them before `since`, the earliest first. */
  ended(service: string, since: number, limit: number): Promise<readonly EndedRun[]>;
  /** The clock of the store, in Unix milliseconds. */
  now(): Promise<number>;
}

/** A run that has ended, and when the store has noted it: later than what the run says itself. */
export interface EndedRun {
  readonly run: Run;
  readonly notedAt: number;
}

/** The runs that are due, and when there are more. */
export interface Due {
  readonly runs: readonly StoredRun[];
  /** In how many milliseconds the next one is due; undefined if none will be. */
  readonly nextMs: number | undefined;
}
