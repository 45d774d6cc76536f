import { countMembers } from "./count-members.ts";
import { describeFaults, type Fault, faultsText } from "./describe-faults.ts";
import { type Messages, messages } from "./generated/messages.ts";

/** Why bytes are not the message they should be. `message` is for the sender. */
export interface MessageFault {
  readonly reason: "not_utf8" | "not_json" | "too_deep" | "forbidden_key" | "duplicate_key" | "invalid";
  readonly message: string;
  readonly faults: readonly Fault[];
  /** What could be parsed, for finding whom to answer. */
  readonly value?: unknown;
}

export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: MessageFault };

export type MessageName = keyof Messages;

/** Deeper values are refused: nothing of ours nests that far, and later readers may recurse. */
export const MAX_JSON_DEPTH = 64;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a message body. Total: any bytes give a value or a fault, and neither can reach a prototype. */
export function decodeMessage<Name extends MessageName>(name: Name, body: Uint8Array): Decoded<Messages[Name]> {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return { ok: false, fault: { reason: "not_utf8", message: `${name}: the body is not UTF-8`, faults: [] } };
  }
  const parsed = parseJson(text);
  if (!parsed.ok) return { ok: false, fault: { ...parsed.fault, message: `${name}: ${parsed.fault.message}` } };
  const { validate, schema } = messages[name];
  const { value } = parsed;
  if (validate(value)) return { ok: true, value: value as Messages[Name] };
  const faults = describeFaults(validate, schema, value);
  return { ok: false, fault: { reason: "invalid", message: `${name}: ${faultsText(faults)}`, faults, value } };
}

/**
 * Parses JSON text of strangers: at most MAX_JSON_DEPTH levels, no key that leads to a prototype, and none twice in one
 * object, since of two values readers take different ones. Never throws.
 */
export function parseJson(text: string): Decoded<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, fault: { reason: "not_json", message: "not valid JSON", faults: [] } };
  }
  const found = examine(value);
  if (typeof found === "string") return { ok: false, fault: { reason: found, message: words[found], faults: [] } };
  if (countMembers(text) === found.members) return { ok: true, value };
  return { ok: false, fault: { reason: "duplicate_key", message: words.duplicate_key, faults: [] } };
}

/** The message as bytes, ready to publish. */
export function encodeMessage<Name extends MessageName>(_name: Name, value: Messages[Name]): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

const words = {
  too_deep: `nested deeper than ${MAX_JSON_DEPTH} levels`,
  forbidden_key: 'JSON with a forbidden key: "__proto__", or "constructor" with a "prototype" in it',
  duplicate_key: "JSON with the same key twice in one object",
};

/** Level by level, not recursively: the depth of a stranger's value must not be the depth of our stack. */
function examine(root: unknown): "too_deep" | "forbidden_key" | { readonly members: number } {
  let members = 0;
  let level: object[] = isNested(root) ? [root] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return "too_deep";
    const next: object[] = [];
    for (const value of level) {
      if (Array.isArray(value)) {
        for (const child of value) if (isNested(child)) next.push(child);
        continue;
      }
      // What JSON.parse makes inherits nothing that is enumerable.
      for (const key in value) {
        const child = (value as Record<string, unknown>)[key];
        // A copy of such a value by careless code would write to the prototype of all objects.
        if (key === "__proto__" || (key === "constructor" && isNested(child) && Object.hasOwn(child, "prototype"))) return "forbidden_key";
        members++;
        if (isNested(child)) next.push(child);
      }
    }
    level = next;
  }
  return { members };
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
