import { createRedactor, MIN_SECRET_LENGTH } from "./redactor.ts";

/**
 * The secrets of this process. The process has one set: a secret must not leave it, whichever part knows the secret and
 * whichever part speaks.
 */
const secrets = createRedactor();

/**
 * Notes a value that must not leave the process: see Redactor. Config, telemetry and adapters do so with what they are
 * given.
 */
export const registerSecret = (secret: string): void => secrets.register(secret);

/** The text without this process's secrets. For each place where texts leave it. */
export const redact = (text: string): string => secrets.redact(text);

/** A JSON value without this process's secrets. */
export const redactValue = <T>(value: T): T => secrets.redactValue(value);

/**
 * Registers the password in a URL, both as it is written there and decoded. A short password counts together with its
 * user name. A text that is no URL has no password.
 */
export function registerUrlSecret(text: string): void {
  const url = URL.parse(text);
  if (url === null || url.password === "") return;
  const { username, password } = url;
  const written = password.length < MIN_SECRET_LENGTH ? `${username}:${password}` : password;
  registerSecret(written);
  try {
    registerSecret(decodeURIComponent(written));
  } catch {
    // A stray percent sign: then it stands for itself, and is registered as written.
  }
}
