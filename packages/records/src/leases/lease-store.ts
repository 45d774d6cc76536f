/**
 * Rights that one process at a time has, each under a name. A process that dies loses its own when they are not
 * renewed.
 */
export interface LeaseStore extends AsyncDisposable {
  /**
   * Takes the lease if nobody has it, makes it hold from now if it is the owner's, and says whose it is.
   * @throws {StoreUnavailableError} if the store does not answer in time, refuses, or is closed: then nothing is known
   */
  hold(name: string, claim: LeaseClaim): Promise<LeaseHolder>;
  /** Gives the lease back, if it is the owner's. @throws as `hold` */
  release(name: string, owner: string): Promise<void>;
  /**
   * Leaves a text for the others, if the lease is the owner's, at most MAX_NOTE_LENGTH characters.
   * @throws as `hold`
   */
  leaveNote(name: string, owner: string, note: LeaseNote): Promise<void>;
  /**
   * The note that was left last, by any owner; undefined if there is none but the one with the tag that is known.
   * @throws as `hold`
   */
  readNote(name: string, knownTag?: string): Promise<LeaseNote | undefined>;
}

/** The claim of a process to a lease. */
export interface LeaseClaim {
  /** Unique to a running process. */
  readonly owner: string;
  readonly leaseMs: number;
}

/** The process that holds a lease, with the fencing number of its term. */
export interface LeaseHolder {
  readonly owner: string;
  /**
   * Rises with each time that the lease is taken, also by the same owner, and over restarts of a store that forgets. It
   * is the time of the taking in Unix milliseconds, or one more than the one before.
   */
  readonly fence: number;
}

/** A text that the leaseholder shows to others. */
export interface LeaseNote {
  /** Tells this text from others, without a dot. */
  readonly tag: string;
  readonly text: string;
}

/** The greatest length of a note. */
export const MAX_NOTE_LENGTH = 4 * 1024 * 1024;
