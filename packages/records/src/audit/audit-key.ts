import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The key that arguments are hashed with: a reader who has the log alone can guess none of them, however short. */
export interface AuditKey {
  /** Tells keys apart in the log. */
  readonly id: string;
  /** The text or the bytes as they stand in a record: `hmac-sha256:{id of the key}:{HMAC-SHA-256 in hex}`. */
  hash(text: string | Uint8Array): string;
}

/** A shorter one could be guessed itself. */
const MIN_CHARACTERS = 16;
const RANDOM_BYTES = 32;
const ID_DIGITS = 8;
/** Only its owner may read it. */
const MODE = 0o600;

/** Makes the key of an audit log from its secret. The name of the key shows nothing of the secret. */
export function createAuditKey(secret: string): AuditKey {
  const key = createSecretKey(Buffer.from(secret));
  const id = createHmac("sha256", key).update("audit key").digest("hex").slice(0, ID_DIGITS);
  return { id, hash: (text) => `hmac-sha256:${id}:${createHmac("sha256", key).update(text).digest("hex")}` };
}

/** Where the key of a log lies: beside it, under a name that no pattern such as `audit.jsonl*` takes along. */
export const keyFileOf = (path: string): string => join(dirname(path), `.${basename(path)}.key`);

/**
 * The secret in a file.
 * @returns undefined if there is none that can be used
 * @throws the error of a file that cannot be read
 */
export async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const secret = text.trim();
  return secret.length < MIN_CHARACTERS ? undefined : secret;
}

/** The secret of a log, made where there is none. */
export async function secretBeside(path: string): Promise<string> {
  const file = keyFileOf(path);
  const known = await readSecret(file);
  if (known !== undefined) return known;
  const secret = randomBytes(RANDOM_BYTES).toString("hex");
  const made = `${file}.new`;
  await writeFile(made, `${secret}\n`, { mode: MODE, flush: true });
  await rename(made, file); // so that no crash leaves half of one
  return secret;
}
