import { parseData, ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";
import type { PublicResponse } from "@rockbot/edge/outbound";
import { decodeText, kindByBytes, kindByType, mediaTypeOf } from "@rockbot/page";
import { readStream, streamKind } from "./read-stream.ts";

/** An answer's content: a JSON value, a text, or bytes that are neither, with words about them. */
export type ResponseContent =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly mediaType: string; readonly what: string };

const MAX_TOLD = 500;

/** The address that an answer names, as a model may read it. */
export function locationOf(response: PublicResponse): string | undefined {
  const location = visibleText(response.header("location") ?? "").slice(0, MAX_TOLD);
  return location === "" ? undefined : JSON.stringify(location);
}

/** Reads the body of an answer that is no error. @throws {ToolError} */
export async function readResponse(
  response: PublicResponse,
  progress: (update: { readonly message: string }) => void,
): Promise<ResponseContent> {
  const contentType = response.header("content-type");
  const mediaType = mediaTypeOf(contentType);
  const stream = streamKind(mediaType);
  if (stream !== undefined)
    return {
      kind: "json",
      value: await readStream(response, stream, (text) => progress({ message: text.slice(0, MAX_TOLD) })),
    };
  const { bytes, isCut } = await response.body();
  if (bytes.length === 0) {
    // Of what was made, or is still being made, the address may be all that the server tells.
    const at = locationOf(response);
    return {
      kind: "text",
      text: `(Status ${response.status}, without content.${at === undefined ? "" : ` It names the address ${at}.`})`,
    };
  }
  const kind = kindByBytes(bytes, kindByType(mediaType), contentType);
  const text = kind.kind === "unreadable" ? undefined : decodeText(bytes, contentType);
  if (text === undefined) {
    const what = kind.kind === "unreadable" ? kind.what : "binary data";
    if (!isCut) return { kind: "bytes", bytes, mediaType, what };
    return { kind: "text", text: `(The answer is ${what}, and broke off after ${bytes.length} bytes.)` };
  }
  if (isCut)
    throw new ToolError(ToolErrorCode.Unavailable, "The server's answer broke off, so it is not shown. Try again.");
  const isJson = /[/+]json$/.test(mediaType) || (mediaType === "" && /^\s*[[{]/.test(text));
  const parsed = isJson ? parseData(text) : undefined;
  return parsed?.ok === true ? { kind: "json", value: parsed.value } : { kind: "text", text };
}

/** Pretty JSON takes up to twice the room, so it is for short answers. */
const MAX_PRETTY = 32_768;

/** JSON for a model. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.length > MAX_PRETTY ? text : JSON.stringify(value, undefined, 2);
}
