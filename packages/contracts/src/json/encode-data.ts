import { isTooDeepToCarry, MAX_DATA_DEPTH } from "./parse-json.ts";

/** A value that cannot be written as JSON which readers of data take. `message` says why, to stand behind "it". */
export class UncarriableError extends Error {
  override readonly name = "UncarriableError";
}

/** A text of fewer characters nests less deep. */
const MIN_DEEP_LENGTH = 2 * MAX_DATA_DEPTH;

/**
 * Encodes a value as JSON that arrives unchanged. JavaScript has numbers that JSON lacks, such as Infinity or 10n:
 * these become text.
 * @throws {UncarriableError} if the value refers to itself or nests deeper than MAX_DATA_DEPTH
 */
export function encodeData(value: unknown): string {
  try {
    const text = stringify(value);
    if (text.length >= MIN_DEEP_LENGTH && isTooDeepToCarry(value)) throw new RangeError();
    return text;
  } catch (error) {
    if (error instanceof RangeError)
      throw new UncarriableError(`nests deeper than ${MAX_DATA_DEPTH} levels`, { cause: error });
    throw new UncarriableError(
      error instanceof TypeError && /circular/.test(error.message) ? "refers to itself" : "is not a JSON value",
      { cause: error },
    );
  }
}

function stringify(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError && /BigInt/.test(error.message)) return JSON.stringify(value, numbersAsText);
    throw error;
  }
  // Only a number that is none, a null or a text with one leaves this word.
  return text.includes("null") && holdsNonFinite(value, 0) ? JSON.stringify(value, numbersAsText) : text;
}

function numbersAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" || isNonFinite(value) ? String(value) : value;
}

const isNonFinite = (value: unknown): boolean => typeof value === "number" && !Number.isFinite(value);

function holdsNonFinite(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return isNonFinite(value);
  if (depth > MAX_DATA_DEPTH) return false;
  if (Array.isArray(value)) return value.some((item) => holdsNonFinite(item, depth + 1));
  for (const key in value) if (holdsNonFinite((value as Record<string, unknown>)[key], depth + 1)) return true;
  return false;
}
