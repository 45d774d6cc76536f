import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from "@a2a-js/sdk";
import { ToolError } from "@rockbot/contracts";
import type { PublicFetch } from "@rockbot/edge/outbound";

/** The largest card, on the wire and unpacked. */
export const MAX_CARD_BYTES = 1024 * 1024;

/**
 * Reads a card's text, without a credential. It follows no redirect.
 * @throws {Error} that says in words why it cannot be read
 */
export async function fetchCard(cardUrl: string, fetch: PublicFetch, signal: AbortSignal): Promise<string> {
  try {
    await using response = await fetch(cardUrl, {
      signal,
      maxRedirects: 0,
      headers: { accept: "application/json", [A2A_VERSION_HEADER.toLowerCase()]: A2A_PROTOCOL_VERSION },
    });
    if (response.status >= 300 && response.status < 400)
      throw new Error("the server redirects, which is not followed for cards");
    if (response.status !== 200) throw new Error(`the server answered with status ${response.status}`);
    const { bytes, isCut } = await response.body();
    if (isCut) throw new Error("it broke off");
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof ToolError) throw new Error(error.message);
    if (error instanceof TypeError && (error as NodeJS.ErrnoException).code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      throw new Error("it is not UTF-8 text");
    throw error;
  }
}
