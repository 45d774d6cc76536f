import { describeFaults, type Fault, faultsText } from "../faults/describe-faults.ts";
import { type Messages, messages } from "../generated/messages.ts";
import { encodeData } from "../json/encode-data.ts";
import { type JsonFaultReason, parseData, parseJson } from "../json/parse-json.ts";

/** Why bytes are not the message they should be. `message` is for the sender. */
export interface MessageFault {
  readonly reason: "not_utf8" | "invalid" | JsonFaultReason;
  readonly message: string;
  readonly faults: readonly Fault[];
  /** The part that could be parsed, for finding the sender to answer. */
  readonly value?: unknown;
}

/** A message whose form was checked, or the fault that it has. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: MessageFault };

/** The name of a message in the schemas. */
export type MessageName = keyof Messages;

/**
 * Answers hold what a tool gave, which is carried on and not acted by; everything in other messages is of our contract.
 */
const CARRY_DATA: ReadonlySet<MessageName> = new Set(["ToolInvokeResponse", "ToolError"]);

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a message body. Total: any bytes give a value or a fault, and neither can reach a prototype. */
export function decodeMessage<Name extends MessageName>(name: Name, body: Uint8Array): Decoded<Messages[Name]> {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return { ok: false, fault: { reason: "not_utf8", message: `${name}: the body is not UTF-8`, faults: [] } };
  }
  const parsed = CARRY_DATA.has(name) ? parseData(text) : parseJson(text);
  if (!parsed.ok)
    return { ok: false, fault: { ...parsed.fault, message: `${name}: ${parsed.fault.message}`, faults: [] } };
  const { validate, schema } = messages[name];
  const { value } = parsed;
  if (validate(value)) return { ok: true, value: value as Messages[Name] };
  const faults = describeFaults(validate, schema, value);
  return { ok: false, fault: { reason: "invalid", message: `${name}: ${faultsText(faults)}`, faults, value } };
}

/**
 * The message as bytes, ready to publish.
 * @throws {UncarriableError} if it is an answer with a value that cannot be carried
 */
export function encodeMessage<Name extends MessageName>(name: Name, value: Messages[Name]): Uint8Array {
  return Buffer.from(CARRY_DATA.has(name) ? encodeData(value) : JSON.stringify(value));
}
