import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { BlobError, type BlobStore, blobDamaged } from "@rockbot/records/blobs";
import { INLINE_RESULT_BYTES, MAX_BLOB_RESULT_BYTES } from "../limits.ts";

/*
 * Claim checks: how a result that is too large for the bus reaches its caller.
 *
 * 1. A caller with a blob store puts a capability into its request (`rb-accept-blob`): 256 random bits for this one call. A peer without such a store does
 *    not ask, and gets today's form.
 * 2. A service with a blob store leaves an encoded answer of more than INLINE_RESULT_BYTES there, up to MAX_BLOB_RESULT_BYTES. It sends an answer without
 *    content whose header `rb-blob` has the hash and the length of what it left. If the store is away or full, the answer goes by the bus as far as that carries it.
 * 3. The caller reads the blob, checks length and hash, reads the answer in it as one from the bus, and deletes it. A blob that nobody reads expires.
 *
 * The name of a blob is a hash of capability and content. So it is written once: a call that is delivered twice leaves two answers, or the same one. The
 * content is sealed with a key of the capability (AES-256-GCM), as every user of the store might list its names. A service can read and write only
 * blobs of calls that it has been sent. What a caller has there is counted as its own, whoever wrote it.
 */

/** A new capability: a secret of one call, between its caller and the service that has its request. */
export const newCapability = (): string => randomBytes(32).toString("hex");

/** How an answer is left. */
export interface LeaveOptions {
  /** As the request has it. */
  readonly capability: string;
  /** The effective caller, for whom it is counted. */
  readonly owner: string;
  readonly ttlMs: number;
}

/** True if the blob store takes an answer of so many bytes, where the request asks for that. */
export const isForBlob = (bytes: number): boolean => bytes > INLINE_RESULT_BYTES && bytes <= MAX_BLOB_RESULT_BYTES;

/** True if a header of a request is a capability. */
export const isCapability = (text: string | undefined): text is string =>
  text !== undefined && /^[0-9a-f]{64}$/.test(text);

/**
 * Leaves an encoded answer for the caller that has given the capability.
 * @returns the reference to it, for the header of the answer
 * @throws {BlobError | StoreUnavailableError} if the store does not take it
 */
export async function leaveAnswer(
  store: BlobStore,
  body: Uint8Array,
  { capability, owner, ttlMs }: LeaveOptions,
): Promise<string> {
  const digest = hash("sha256", body, "hex");
  await store.put(nameOf(capability, digest), seal(body, capability), { owner, ttlMs });
  return `${digest}:${body.byteLength}`;
}

/**
 * Reads the answer that a reference leads to, and deletes it from the store.
 * @param reference as the answer's header has it
 * @throws {ToolError} `too_large`, or `outcome_unknown` if the answer is missing, is another one, or cannot be reached:
 * the tool has run
 */
export async function fetchAnswer(
  store: BlobStore,
  reference: string,
  { capability, toolName }: { readonly capability: string; readonly toolName: string },
): Promise<Uint8Array> {
  try {
    const [, digest, length] = /^([0-9a-f]{64}):(\d{1,10})$/.exec(reference) ?? [];
    if (digest === undefined) throw blobDamaged();
    if (Number(length) > MAX_BLOB_RESULT_BYTES)
      throw new BlobError("too_large", `The result has ${length} bytes: at most ${MAX_BLOB_RESULT_BYTES} are read`);
    const name = nameOf(capability, digest);
    const body = unseal(await store.get(name, Number(length) + SEAL_BYTES), capability);
    if (hash("sha256", body, "hex") !== digest) throw blobDamaged();
    store.delete(name).catch(() => {}); // it expires
    return body;
  } catch (error) {
    throw fetchError(toolName, error);
  }
}

/** Why the answer of a tool that has run is not here. */
export function fetchError(toolName: string, cause: unknown): ToolError {
  const [reason, why] =
    cause instanceof BlobError && cause.code === "missing"
      ? ["result_missing", "is not where it was left: it has expired, or somebody has removed it"]
      : cause instanceof BlobError && cause.code === "damaged"
        ? ["result_damaged", "is not the one that was announced: its length or its hash differs"]
        : ["result_out_of_reach", "cannot be fetched now"];
  if (cause instanceof BlobError && cause.code === "too_large") {
    return new ToolError(ToolErrorCode.TooLarge, `"${toolName}" has run. ${cause.message}. Ask for less.`, {
      cause,
      details: { mayHaveRun: true },
    });
  }
  if (!(cause instanceof BlobError) && !(cause instanceof StoreUnavailableError)) throw cause;
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `"${toolName}" has run, and its result ${why}. Find out what it did before you call it again.`,
    {
      cause,
      details: { reason, mayHaveRun: true },
    },
  );
}

const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEAL_BYTES = IV_BYTES + TAG_BYTES;

function seal(body: Uint8Array, capability: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(capability), iv);
  const sealed = [cipher.update(body), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]);
}

/** @throws {BlobError} `damaged` */
function unseal(sealed: Uint8Array, capability: string): Buffer {
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(capability), sealed.subarray(0, IV_BYTES));
    decipher.setAuthTag(sealed.subarray(IV_BYTES, SEAL_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(SEAL_BYTES)), decipher.final()]);
  } catch {
    throw blobDamaged();
  }
}

const nameOf = (capability: string, digest: string): string => hash("sha256", `name ${capability} ${digest}`, "hex");

const keyOf = (capability: string): Buffer => hash("sha256", `key ${capability}`, "buffer");
