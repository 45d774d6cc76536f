import { ToolError, ToolErrorCode } from "@rockbot/contracts";

// Values of arguments, each kept within its place in a request.

/** A value as text: objects and lists as JSON. */
export const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : value === undefined || value === null
      ? ""
      : typeof value === "object"
        ? JSON.stringify(value)
        : String(value);

/** Everything that means something in a URL is encoded. @throws {ToolError} */
export function encodeValue(name: string, value: unknown): string {
  const text = textOf(value);
  if (!text.isWellFormed()) throw refusal(name, "it has half a character, which cannot be sent");
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Sees to it that a path leads where its template does: no segment of it is empty by an argument, or climbs.
 * @param segments as they are sent, and whether an argument stands in each
 * @throws {ToolError}
 */
export function checkSegments(segments: readonly { readonly text: string; readonly names: readonly string[] }[]): void {
  for (const { text, names } of segments) {
    const [name] = names;
    if (name === undefined) continue;
    if (text === "") throw refusal(name, "it is empty, and stands in the path of the address");
    if (/^(?:\.|%2e){1,2}$/i.test(text)) throw refusal(name, "it would lead to another path");
  }
}

/** The value of a header. @throws {ToolError} if it cannot be one: a line break would begin another header */
export function headerValue(name: string, value: unknown): string {
  const text = textOf(value);
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
    throw refusal(
      name,
      "it has characters that no HTTP header can carry: line breaks, control characters, or ones beyond Latin-1",
    );
  return text.trim();
}

/** A pair for the Cookie header. @throws {ToolError} */
export const cookiePair = (name: string, value: unknown): string =>
  `${encodeValue(name, name)}=${encodeValue(name, value)}`;

export const refusal = (name: string, why: string): ToolError =>
  new ToolError(
    ToolErrorCode.InvalidArguments,
    `The argument "${name.slice(0, 80)}" is not usable: ${why}. Nothing was sent.`,
    {
      details: { mayHaveRun: false },
    },
  );

/** Headers about the transport of a message, or about its sender: no argument sets them. */
const FORBIDDEN_HEADERS =
  /^(?:accept-encoding|authorization|connection|content-(?:length|type|encoding)|cookie2?|expect|forwarded|host|keep-alive|origin|proxy-.*|referer|sec-.*|te|trailer|transfer-encoding|upgrade|via|x-forwarded-.*)$/i;

export const isForbiddenHeader = (name: string): boolean =>
  !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || FORBIDDEN_HEADERS.test(name);
