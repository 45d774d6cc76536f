import type { Envelope } from "@rockbot/contracts";
import { MAX_HEADER_BYTES } from "./bus.ts";
import { MessageTooLargeError } from "./bus-errors.ts";

/** How many bytes the names and values of a header table have, if that is more than `limit`. */
export function headerBytesBeyond(limit: number, headers: Envelope["headers"]): number | undefined {
  let characters = 0;
  for (const name in headers) characters += name.length + (headers[name] ?? "").length;
  if (3 * characters <= limit) return undefined; // none takes more bytes than three: of most tables no exact count is needed
  let bytes = 0;
  for (const name in headers) bytes += Buffer.byteLength(name) + Buffer.byteLength(headers[name] ?? "");
  return bytes > limit ? bytes : undefined;
}

/** Why the header table cannot be published; undefined if a bus carries it. */
export function headersFault({
  topic,
  headers,
}: Pick<Envelope, "topic" | "headers">): MessageTooLargeError | undefined {
  const bytes = headerBytesBeyond(MAX_HEADER_BYTES, headers);
  if (bytes === undefined) return undefined;
  return new MessageTooLargeError(
    `Cannot publish to "${topic}": the headers have ${bytes} bytes, at most ${MAX_HEADER_BYTES} are carried`,
  );
}
