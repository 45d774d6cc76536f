import type { IncomingMessage } from "node:http";
import { parseJson, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { MAX_REQUEST_BYTES } from "@rockbot/tools";
import { HttpErrorCode } from "./http-error.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The arguments in a request's body: a JSON object. No body is no arguments.
 * @throws {ToolError} in words for the client, whatever came
 */
export async function readArguments(incoming: IncomingMessage): Promise<object> {
  const { headers } = incoming;
  const isEmpty = headers["transfer-encoding"] === undefined && (headers["content-length"] ?? "0") === "0";
  if (isEmpty) return {};
  const type = headers["content-type"] ?? "";
  if (!/^application\/json *(;|$)/i.test(type)) {
    throw new ToolError(
      HttpErrorCode.UnsupportedMediaType,
      `Cannot read the body: expected the content type application/json, got ${type === "" ? "none" : JSON.stringify(type.slice(0, 80))}`,
    );
  }
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    throw new ToolError(HttpErrorCode.UnsupportedMediaType, "Cannot read the body: send it without a content encoding");
  }
  const bytes = await readBytes(incoming);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalid("it is not UTF-8");
  }
  if (text.trim() === "") return {};
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalid(`it is ${parsed.fault.message}`);
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("it is JSON, but not an object");
  return value;
}

const invalid = (what: string): ToolError =>
  new ToolError(ToolErrorCode.InvalidArguments, `Cannot read the arguments from the body: ${what}. Send one JSON object that holds the tool's arguments`);

/** At most as many bytes as a request on the bus may have. */
async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const tooLarge = (): ToolError => new ToolError(ToolErrorCode.TooLarge, `Cannot read the body: it is larger than ${MAX_REQUEST_BYTES} bytes`);
  if (Number(incoming.headers["content-length"]) > MAX_REQUEST_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // The stream must outlive a refusal: the answer still goes out on its socket.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_REQUEST_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(ToolErrorCode.Cancelled, "Cannot read the body: the connection ended before it was complete", { cause: error });
  }
  return Buffer.concat(chunks, bytes);
}
