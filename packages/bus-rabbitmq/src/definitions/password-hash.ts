import { createHash, randomBytes } from "node:crypto";

/** A password as RabbitMQ keeps it: four random bytes, then the SHA-256 of these and the password. */
export function passwordHash(password: string): { readonly password_hash: string; readonly hashing_algorithm: string } {
  const salt = randomBytes(4);
  const hash = createHash("sha256").update(salt).update(password).digest();
  return { password_hash: Buffer.concat([salt, hash]).toString("base64"), hashing_algorithm: "rabbit_password_hashing_sha256" };
}
