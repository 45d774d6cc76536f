import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import { blobDamaged } from "../blobs/blob-store.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;
/** A sealed piece is longer by so many bytes. */
export const SEAL_BYTES = IV_BYTES + TAG_BYTES;

/** Names one piece of one file of one caller. The key is the capability: who has it can read the file, and nothing else. */
export interface PieceId {
  readonly owner: string;
  readonly handle: string;
  /** 64 hex digits. */
  readonly key: string;
  readonly index: number;
}

/** The name under which a piece lies: nobody without the key can tell whose it is. */
export const pieceName = (id: PieceId): string => hash("sha256", `name ${id.key} ${boundTo(id)}`, "hex");

/** Seals a piece, for its place in its file alone. */
export function seal(bytes: Uint8Array, id: PieceId): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", sealKey(id), iv).setAAD(Buffer.from(boundTo(id)));
  const sealed = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]);
}

/** @throws {BlobError} `damaged`, for a piece of another place, file or caller, too */
export function unseal(sealed: Uint8Array, id: PieceId): Buffer {
  try {
    const decipher = createDecipheriv("aes-256-gcm", sealKey(id), sealed.subarray(0, IV_BYTES));
    decipher.setAAD(Buffer.from(boundTo(id))).setAuthTag(sealed.subarray(IV_BYTES, SEAL_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(SEAL_BYTES)), decipher.final()]);
  } catch {
    throw blobDamaged();
  }
}

const boundTo = ({ owner, handle, index }: PieceId): string => JSON.stringify([owner, handle, index]);

const sealKey = ({ key }: PieceId): Buffer => hash("sha256", `key ${key}`, "buffer");
