import { encodingsOf } from "./encodings-of.ts";
import { type FindAny, findAny } from "./find-any.ts";

/** The text that replaces a secret. */
export const REDACTED = "[redacted]";

/** Takes secrets out of texts. */
export interface Redactor {
  /**
   * From now on the secret is taken out, in each form of `encodingsOf`, and so is each of its lines. One of less than 8
   * characters is not: it would be found in texts that have nothing to do with it. It keeps 1000 secrets, and forgets
   * the oldest first.
   */
  register(secret: string): void;
  /** The text with `[redacted]` in the place of each secret. */
  redact(text: string): string;
  /**
   * The same for all texts in a JSON value, names of properties included; the value itself if there is nothing to take
   * out.
   * @throws {RangeError} if it nests deeper than any message may, or refers to itself
   */
  redactValue<T>(value: T): T;
}

export const MIN_SECRET_LENGTH = 8;
const MAX_SECRETS = 1000;
/** A line of a certificate or key counts by itself, since messages show single lines. */
const MIN_LINE_LENGTH = 16;
/** Somewhat more than what tools give may nest. */
const MAX_DEPTH = 1_024;

/** Makes a redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  const secrets = new Set<string>();
  /** Undefined while secrets have come since. */
  let find: FindAny | undefined = findAny([]);

  function redact(text: string): string {
    find ??= findAny([...secrets].flatMap(encodingsOf));
    let match = find(text, 0);
    if (match === undefined) return text;
    let clean = "";
    let at = 0;
    for (; match !== undefined; match = find(text, at)) {
      clean += text.slice(at, match.start) + REDACTED;
      at = match.end;
    }
    return clean + text.slice(at);
  }

  /** Tells whether a copy is needed: most values have no secret in them, and pay for no copy. */
  function isUnclean(value: unknown, depth: number): boolean {
    if (typeof value === "string") return redact(value) !== value;
    if (typeof value !== "object" || value === null) return false;
    checkDepth(depth);
    if (Array.isArray(value)) return value.some((item) => isUnclean(item, depth + 1));
    for (const name in value)
      if (redact(name) !== name || isUnclean((value as Record<string, unknown>)[name], depth + 1)) return true;
    return false;
  }

  function cleanCopy(value: unknown, depth: number): unknown {
    if (typeof value === "string") return redact(value);
    if (typeof value !== "object" || value === null) return value;
    checkDepth(depth);
    if (Array.isArray(value)) return value.map((item) => cleanCopy(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [redact(name), cleanCopy(item, depth + 1)]));
  }

  return {
    register(secret) {
      for (const text of [secret, ...secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH)]) {
        if (text.length < MIN_SECRET_LENGTH || secrets.has(text)) continue;
        secrets.add(text);
        find = undefined;
      }
      for (const oldest of secrets) {
        if (secrets.size <= MAX_SECRETS) break;
        secrets.delete(oldest);
      }
    },
    redact,
    redactValue: <T>(value: T): T => (secrets.size > 0 && isUnclean(value, 0) ? (cleanCopy(value, 0) as T) : value),
  };
}

function checkDepth(depth: number): void {
  if (depth >= MAX_DEPTH)
    throw new RangeError(
      `Cannot look for secrets in a value that nests deeper than ${MAX_DEPTH} levels, or refers to itself`,
    );
}
