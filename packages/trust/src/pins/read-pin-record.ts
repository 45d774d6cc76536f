import { StoreUnavailableError } from "@rockbot/records";
import type { Pin, PinRecord } from "./pin.ts";

/**
 * The record of pins that a store holds. People may have written it.
 * @throws {StoreUnavailableError} if it is none: it does not count as empty
 */
export function readPinRecord(name: string, value: unknown): PinRecord | undefined {
  if (value === undefined) return undefined;
  const {
    server,
    pins,
    held = [],
  } = (typeof value === "object" && value !== null ? value : {}) as { readonly [Key in keyof PinRecord]?: unknown };
  if (typeof server !== "string" || !Array.isArray(pins) || !Array.isArray(held) || ![...pins, ...held].every(isEntry))
    throw new StoreUnavailableError(`Cannot read the record "${name}": it is not a record of pins`);
  return { server, pins: pins as Pin[], held: held as PinRecord["held"] };
}

const isEntry = (value: unknown): boolean => {
  const { name, hash, shape } = (typeof value === "object" && value !== null ? value : {}) as {
    readonly [Key in keyof Pin]?: unknown;
  };
  return typeof name === "string" && typeof hash === "string" && typeof shape === "string";
};
