/**
 * Keeps bytes under names that nobody can guess: results that are too large for the bus, or pieces of files. A result
 * is for one reader and a short time. A blob is written once. The store counts what each caller has there.
 */
export interface BlobStore extends AsyncDisposable {
  /**
   * Keeps bytes under a name. One that has bytes already keeps those: a call that is delivered twice leaves the same.
   * Where the owner may have no more, its results that nobody has fetched for FETCHED_MS give way; pieces of files do not.
   * @throws {BlobError} `too_large`, or `full` if that would exceed what the owner may have; then nothing was kept
   * @throws {StoreUnavailableError} if the store does not answer in time, refuses, or is closed
   */
  put(name: string, bytes: Uint8Array, options: PutBlobOptions): Promise<void>;
  /**
   * @param length how many bytes it must have
   * @throws {BlobError} `missing`, or `damaged` if it has another length
   * @throws {StoreUnavailableError} as `put`
   */
  get(name: string, length: number): Promise<Uint8Array>;
  /** Deletes it, if it is there. Its owner's count goes down. @throws {StoreUnavailableError} as `put` */
  delete(name: string): Promise<void>;
}

/** Whose a blob is, and for how long. */
export interface PutBlobOptions {
  /** The effective caller that it is counted for. */
  readonly owner: string;
  /** The time to live, at most that of the kind. */
  readonly ttlMs: number;
}

/** What blobs are for, and the rules that follow from it. */
export interface BlobKind {
  /** Their share of Redis. */
  readonly name: "blobs" | "files";
  /** Begins their keys there. The braces make a cluster keep all in one place, as a script needs its keys. */
  readonly keys: string;
  /** What one is, in words. */
  readonly one: string;
  readonly maxTtlMs: number;
  /** One that nobody has fetched for so long gives way to another of its owner. */
  readonly idleMs: number;
  /** Each counts so many bytes at least, which bounds how many an owner has. */
  readonly countsAtLeast: number;
  readonly maxBytesPerOwner: number;
  /** What a process does while Redis is away, for its log. */
  readonly whileAway: string;
}

/** How much a store keeps. */
export interface BlobLimits {
  /** The bound of one owner, in bytes. @default that of the kind */
  readonly maxBytesPerOwner: number;
  /** The bound of all in this process, in bytes. Redis has its maxmemory. @default 536_870_912 */
  readonly maxBytes: number;
}

/** The bound of all in one process. */
export const MAX_BLOBS_BYTES = 512 * 1024 ** 2;
/** A blob has at most so many bytes: a result of 32 MiB, sealed. */
export const MAX_BLOB_BYTES = 32 * 1024 ** 2 + 1024;
/** The longest that a call may take, and ten minutes for a caller that is restarted meanwhile. */
export const MAX_BLOB_TTL_MS = 30 * 60_000;

/** A reader that is there fetches a blob within this time. */
const FETCHED_MS = 60_000;

/** Results that are too large for the bus. */
export const RESULTS: BlobKind = {
  name: "blobs",
  keys: "{blobs}",
  one: "a result",
  maxTtlMs: MAX_BLOB_TTL_MS,
  idleMs: FETCHED_MS,
  countsAtLeast: 0,
  maxBytesPerOwner: 256 * 1024 ** 2,
  whileAway: "large results cross the bus themselves, up to 8 MiB",
};
/** Pieces of files: none gives way before its time is over. */
export const FILE_PIECES: BlobKind = {
  name: "files",
  keys: "{files}:pieces",
  one: "a piece of a file",
  maxTtlMs: 7 * 24 * 3_600_000,
  idleMs: Number.MAX_SAFE_INTEGER,
  countsAtLeast: 32 * 1024,
  maxBytesPerOwner: 64 * 1024 ** 2,
  whileAway: "files can be neither kept nor read",
};

/** Why a blob could not be kept or read. */
export class BlobError extends Error {
  override readonly name = "BlobError";
  readonly code: "missing" | "damaged" | "too_large" | "full";

  constructor(code: BlobError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws {BlobError} */
export function checkBlobLength(length: number, { one }: BlobKind): void {
  if (length > MAX_BLOB_BYTES)
    throw new BlobError("too_large", `Cannot keep ${one} of ${length} bytes: at most ${MAX_BLOB_BYTES} are kept`);
}

/** The error for a blob that finds no room. */
export const blobsFull = (length: number, max: number, { one }: BlobKind): BlobError =>
  new BlobError(
    "full",
    `Cannot keep ${one} of ${length} bytes: its caller has others there, and may have ${max} bytes in all`,
  );

/** The error for a blob that is not there. */
export const blobMissing = (): BlobError =>
  new BlobError("missing", "The result is not there: it has expired, or was fetched before");

/** The error for a blob that is there, and cannot be the one that was left. */
export const blobDamaged = (): BlobError =>
  new BlobError("damaged", "The result is not the one that was announced: its length or its hash differs");
