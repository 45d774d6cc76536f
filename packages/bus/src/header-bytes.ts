import type { Envelope } from "@rockbot/contracts";
import { MAX_HEADER_BYTES } from "./bus.ts";
import { MessageTooLargeError } from "./bus-errors.ts";

/** How many bytes the names and values of a header table have. */
export function headerBytes(headers: Envelope["headers"]): number {
  let bytes = 0;
  for (const name in headers) bytes += Buffer.byteLength(name) + Buffer.byteLength(headers[name] ?? "");
  return bytes;
}

/** Why the header table cannot be published; undefined if a bus carries it. */
export function headersFault({ topic, headers }: Pick<Envelope, "topic" | "headers">): MessageTooLargeError | undefined {
  const bytes = headerBytes(headers);
  if (bytes <= MAX_HEADER_BYTES) return undefined;
  return new MessageTooLargeError(`Cannot publish to "${topic}": the headers have ${bytes} bytes, at most ${MAX_HEADER_BYTES} are carried`);
}
