import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const ALGORITHM = "rabbit_password_hashing_sha256";
const SALT_BYTES = 4;

/** A password as RabbitMQ keeps it. */
export interface PasswordHash {
  readonly password_hash: string;
  readonly hashing_algorithm: string;
}

/** Four random bytes, then the SHA-256 of these and the password. */
export function passwordHash(password: string, salt: Uint8Array = randomBytes(SALT_BYTES)): PasswordHash {
  const hash = createHash("sha256").update(salt).update(password).digest();
  return { password_hash: Buffer.concat([salt, hash]).toString("base64"), hashing_algorithm: ALGORITHM };
}

/** Tells whether RabbitMQ keeps this password already: a new hash would be a change without a difference. */
export function isHashOf(password: string, kept: Partial<PasswordHash>): boolean {
  if (kept.hashing_algorithm !== ALGORITHM || typeof kept.password_hash !== "string") return false;
  const bytes = Buffer.from(kept.password_hash, "base64");
  const expected = Buffer.from(passwordHash(password, bytes.subarray(0, SALT_BYTES)).password_hash, "base64");
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
