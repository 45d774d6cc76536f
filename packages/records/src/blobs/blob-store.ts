/**
 * Keeps results that are too large for the bus, each for one reader and a short time. A blob has a name that nobody can
 * guess, and is written once. It counts what each caller has there.
 */
export interface BlobStore extends AsyncDisposable {
  /**
   * Keeps bytes under a name. One that has bytes already keeps those: a call that is delivered twice leaves the same.
   * Where the owner may have no more, its blobs that nobody has fetched for FETCHED_MS give way.
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
  /** The time to live, at most MAX_BLOB_TTL_MS. */
  readonly ttlMs: number;
}

/** How much a store keeps. */
export interface BlobLimits {
  /** The bound of one owner, in bytes. @default 268_435_456 */
  readonly maxBytesPerOwner: number;
  /** The bound of all in this process, in bytes. Redis has its maxmemory. @default 536_870_912 */
  readonly maxBytes: number;
}

export const DEFAULT_BLOB_LIMITS: BlobLimits = { maxBytesPerOwner: 256 * 1024 ** 2, maxBytes: 512 * 1024 ** 2 };
/** A blob has at most so many bytes: a result of 32 MiB, sealed. */
export const MAX_BLOB_BYTES = 32 * 1024 ** 2 + 1024;
/** The longest that a call may take, and ten minutes for a caller that is restarted meanwhile. */
export const MAX_BLOB_TTL_MS = 30 * 60_000;

/** A reader that is there fetches a blob within this time. */
export const FETCHED_MS = 60_000;

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
export function checkBlobLength(length: number): void {
  if (length > MAX_BLOB_BYTES)
    throw new BlobError("too_large", `Cannot keep a result of ${length} bytes: at most ${MAX_BLOB_BYTES} are kept`);
}

/** The error for a blob that finds no room. */
export const blobsFull = (length: number, max: number): BlobError =>
  new BlobError(
    "full",
    `Cannot keep a result of ${length} bytes: its caller has results there that nobody has fetched, and may have ${max} bytes in all`,
  );

/** The error for a blob that is not there. */
export const blobMissing = (): BlobError =>
  new BlobError("missing", "The result is not there: it has expired, or was fetched before");

/** The error for a blob that is there, and cannot be the one that was left. */
export const blobDamaged = (): BlobError =>
  new BlobError("damaged", "The result is not the one that was announced: its length or its hash differs");
