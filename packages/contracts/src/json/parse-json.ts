import { quoteNumbers, scanJson } from "./scan-json.ts";

export type JsonFaultReason = "not_json" | "too_deep" | "forbidden_key" | "duplicate_key" | "inexact_number";

/** Why a text is not taken. */
export interface JsonFault {
  readonly reason: JsonFaultReason;
  /** To stand behind "it is" or "the arguments are". */
  readonly message: string;
  /** The part that could be parsed, for finding the sender to answer. */
  readonly value?: unknown;
}

/** A value, or the fault that made it unusable. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: JsonFault };

/** JSON that code acts on nests no deeper. No message of the system does, and later readers may recurse. */
export const MAX_JSON_DEPTH = 64;
/** Data that is carried on may nest so deep. Writers of JSON recurse, V8's own ends beyond 4 000 levels. */
export const MAX_DATA_DEPTH = 1_000;

interface Rules {
  readonly maxDepth: number;
  /** True to accept a key that may lead to a prototype. It is a property of its object's own in any case. */
  readonly takesAnyKey: boolean;
  /** The treatment of a number that JavaScript would change into another: see isInexact. */
  readonly inexact: "rounded" | "refused" | "text";
}

const PLAIN: Rules = { maxDepth: MAX_JSON_DEPTH, takesAnyKey: false, inexact: "rounded" };
const ARGUMENTS: Rules = { ...PLAIN, inexact: "refused" };
const DATA: Rules = { maxDepth: MAX_DATA_DEPTH, takesAnyKey: true, inexact: "text" };

/**
 * Parses JSON from strangers that code acts on. It takes at most MAX_JSON_DEPTH levels, no key that leads to a
 * prototype, and no key twice in one object. Readers would take different ones of two equal keys. Never throws.
 */
export const parseJson = (text: string): ParsedJson => parse(text, PLAIN);

/**
 * The same for arguments of a tool, which must not become others on their way: a number that JavaScript does not keep
 * is a fault.
 */
export const parseArguments = (text: string): ParsedJson => parse(text, ARGUMENTS);

/**
 * Parses JSON from strangers that is passed on unchanged, such as the results of tools. Any key becomes an own property
 * of its object. It takes MAX_DATA_DEPTH levels. A number that JavaScript cannot keep becomes the text of its digits.
 * Never throws.
 */
export const parseData = (text: string): ParsedJson => parse(text, DATA);

function parse(text: string, { maxDepth, takesAnyKey, inexact }: Rules): ParsedJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, fault: { reason: "not_json", message: "not valid JSON" } };
  }
  const found = examine(value, maxDepth, takesAnyKey);
  if (found === "too_deep") return refused("too_deep", `nested deeper than ${maxDepth} levels`, value);
  if (found === "forbidden_key")
    return refused(
      "forbidden_key",
      'JSON with a forbidden key: "__proto__", or "constructor" with a "prototype" in it',
      value,
    );
  const scan = scanJson(text);
  if (scan.members !== found) return refused("duplicate_key", "JSON with the same key twice in one object", value);
  const [first] = scan.inexact;
  if (first === undefined || inexact === "rounded") return { ok: true, value };
  if (inexact === "text") return { ok: true, value: JSON.parse(quoteNumbers(text, scan.inexact)) };
  const literal = text.slice(first.start, Math.min(first.end, first.start + 40));
  return refused(
    "inexact_number",
    `JSON with the number ${literal}, which would become ${Number(literal)} on its way; give it as text if the tool takes that`,
    value,
  );
}

const refused = (reason: JsonFaultReason, message: string, value: unknown): ParsedJson => ({
  ok: false,
  fault: { reason, message, value },
});

/**
 * Level by level, not recursively: the depth of a stranger's value must not be the depth of our stack.
 * @returns how many members the objects of the value have
 */
function examine(root: unknown, maxDepth: number, takesAnyKey: boolean): "too_deep" | "forbidden_key" | number {
  let members = 0;
  let level: object[] = isNested(root) ? [root] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return "too_deep";
    const next: object[] = [];
    for (const value of level) {
      if (Array.isArray(value)) {
        for (const child of value) if (isNested(child)) next.push(child);
        continue;
      }
      // Values of JSON.parse inherit nothing that is enumerable.
      for (const key in value) {
        const child = (value as Record<string, unknown>)[key];
        // A copy of such a value by careless code would write to the prototype of all objects.
        if (
          !takesAnyKey &&
          (key === "__proto__" || (key === "constructor" && isNested(child) && Object.hasOwn(child, "prototype")))
        )
          return "forbidden_key";
        members++;
        if (isNested(child)) next.push(child);
      }
    }
    level = next;
  }
  return members;
}

/** True if data nests deeper than is carried. */
export const isTooDeepToCarry = (value: unknown): boolean => examine(value, MAX_DATA_DEPTH, true) === "too_deep";

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
