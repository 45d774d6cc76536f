import { SubscriptionTakenError } from "@rockbot/bus";
import { AmqplibMismatchError } from "../wire/amqplib-internals.ts";

/**
 * The broker understands, and says no, or the library is another than this was written for: trying again at once is no
 * use.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AmqplibMismatchError || error instanceof SubscriptionTakenError) return true;
  const code = (error as Error & { readonly code?: unknown }).code;
  if (typeof code === "number") return refusals.has(code);
  return /ACCESS[-_]REFUSED|NOT[-_]ALLOWED|NOT[-_]FOUND/.test(error.message); // of the handshake there is only text
}

/**
 * The broker has another consumer of the queue, and one of the two wants to be the only one. It has no code of its own.
 */
export const isInUse = (error: unknown): boolean =>
  error instanceof Error &&
  (error as Error & { readonly code?: unknown }).code === ACCESS_REFUSED &&
  error.message.includes("in exclusive use");

/** AMQP's code for what the broker does not let this user do. */
export const NOT_ALLOWED = 530;
/** AMQP's code for what the rights of this user leave out. */
export const ACCESS_REFUSED = 403;
/** AMQP's code for a queue or an exchange that is not there. */
export const NOT_FOUND = 404;
/** AMQP's code for another connection's own queue. */
export const RESOURCE_LOCKED = 405;
/** access-refused, not-found, resource-locked, precondition-failed, not-allowed. */
const refusals: ReadonlySet<number> = new Set([ACCESS_REFUSED, NOT_FOUND, RESOURCE_LOCKED, 406, NOT_ALLOWED]);
