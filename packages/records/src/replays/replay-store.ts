/**
 * Keeps what a program has asked others for, as long as its own call has no answer. If the program is run again, it gets
 * the same answers. A record belongs to one call of one caller. The newest process that has opened it has it: what an
 * earlier one writes is refused.
 */
export interface ReplayStore extends AsyncDisposable {
  /**
   * Opens the record of a call for this process, and ends the hold of an earlier one.
   * @param fresh the beginning of a record that is made if there is none; left out, none is made
   * @returns undefined if there is none
   * @throws {StoreUnavailableError} if the store does not answer in time, refuses, or is closed
   */
  open(key: ReplayKey, fresh?: string): Promise<OpenReplay | undefined>;
  /**
   * Notes a step, in place of an earlier note on it.
   * @param bytes what belongs to it, such as an answer
   * @returns false if another process has opened the record since, or it is over
   * @throws {StoreFullError} if the record or its caller would have too much
   * @throws {StoreUnavailableError} as `open`
   */
  note(held: HeldReplay, step: string, head: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * What belongs to a step.
   * @throws {StoreUnavailableError} as `open`, and if it is there no more
   */
  read(key: ReplayKey, step: string): Promise<Uint8Array>;
  /** Says that the call has its answer. The record stays for END_KEPT_MS, for a process that has not heard of it. */
  end(held: HeldReplay): Promise<void>;
}

/** The call that a record belongs to. */
export interface ReplayKey {
  readonly caller: string;
  readonly toolCallId: string;
}

/** A record that this process has opened. */
export interface HeldReplay extends ReplayKey {
  /** Counts the openings, from 1. */
  readonly attempt: number;
}

/** A record as it was when it was opened. */
export interface OpenReplay extends HeldReplay {
  readonly beginning: string;
  /** The notes by their steps, without what belongs to them. */
  readonly heads: ReadonlyMap<string, string>;
}

/** How much a store keeps. */
export interface ReplayLimits {
  /** The bound of one record, in bytes. @default 67_108_864 */
  readonly maxBytes: number;
  /** The bound of all records of a caller, in bytes. @default 268_435_456 */
  readonly maxBytesPerCaller: number;
}

export const DEFAULT_REPLAY_LIMITS: ReplayLimits = { maxBytes: 64 * 1024 ** 2, maxBytesPerCaller: 256 * 1024 ** 2 };
/** A record that nothing is written to is kept so long: longer than its call may wait for people. */
export const REPLAY_KEPT_MS = 26 * 3_600_000;
/** Longer than a call that was cut off waits for its next process. */
export const END_KEPT_MS = 120_000;
/** Each note counts for so many bytes besides. */
export const NOTE_BYTES = 256;

/** Words for a record that finds no room. */
export const replayFull = (whose: string, max: number): string =>
  `the record of what ${whose} asked for has at most ${max} bytes`;
