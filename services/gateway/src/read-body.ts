import type { IncomingMessage } from "node:http";
import { MAX_REQUEST_BYTES, parseArguments, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { readMessage } from "@rockbot/inbound";
import { HttpErrorCode } from "./http-error.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What a body is expected to hold, for who reads why it cannot be read. */
interface Expected {
  readonly what: string;
  readonly send: string;
}

const ARGUMENTS: Expected = { what: "the arguments", send: "one JSON object that holds the tool's arguments" };
const MESSAGE: Expected = { what: "the message", send: "one message of the protocol MCP, as JSON" };

/**
 * The arguments in a request's body: a JSON object. No body is no arguments.
 * @throws {ToolError} in words for the client, whatever came
 */
export async function readArguments(incoming: IncomingMessage): Promise<object> {
  if (isEmpty(incoming)) return {};
  const value = await readJson(incoming, ARGUMENTS, readBytes);
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(ARGUMENTS, "it is JSON, but not an object");
  return value;
}

/**
 * The message of MCP in a request's body. Whether it is one is for the protocol to say.
 * @throws {MessageTooLargeError} with its id
 * @throws {ToolError} in words for the client, if it is no JSON
 */
export async function readMcpMessage(incoming: IncomingMessage): Promise<unknown> {
  const value = isEmpty(incoming) ? undefined : await readJson(incoming, MESSAGE, readMessageBytes);
  if (value === undefined) throw invalid(MESSAGE, "it is empty");
  return value;
}

/** A client of a protocol with ids waits for an answer to its request, and makes little of any other. */
export class MessageTooLargeError extends ToolError {
  /** Of the request; undefined if it has none that could be found. */
  readonly id: string | number | undefined;

  constructor(id: string | number | undefined) {
    super(ToolErrorCode.TooLarge, TOO_LARGE);
    this.id = id;
  }
}

/** At most as many bytes as a request on the bus may have. */
const TOO_LARGE = `Cannot read the body: it is larger than ${MAX_REQUEST_BYTES} bytes. Send less`;

const isEmpty = ({ headers }: IncomingMessage): boolean => headers["transfer-encoding"] === undefined && (headers["content-length"] ?? "0") === "0";

/** @returns undefined if there is nothing but white space */
async function readJson(incoming: IncomingMessage, expected: Expected, read: (incoming: IncomingMessage) => Promise<Buffer>): Promise<unknown> {
  const { headers } = incoming;
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
  const bytes = await read(incoming);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalid(expected, "it is not UTF-8");
  }
  if (text.trim() === "") return undefined;
  const parsed = parseArguments(text);
  if (!parsed.ok) throw invalid(expected, `it is ${parsed.fault.message}`);
  return parsed.value;
}

const invalid = ({ what, send }: Expected, fault: string): ToolError =>
  new ToolError(ToolErrorCode.InvalidArguments, `Cannot read ${what} from the body: ${fault}. Send ${send}`);

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const tooLarge = (): ToolError => new ToolError(ToolErrorCode.TooLarge, TOO_LARGE);
  if (Number(incoming.headers["content-length"]) > MAX_REQUEST_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(incoming)) {
    bytes += chunk.length;
    if (bytes > MAX_REQUEST_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

async function readMessageBytes(incoming: IncomingMessage): Promise<Buffer> {
  const read = await readMessage(chunksOf(incoming), MAX_REQUEST_BYTES);
  if (Buffer.isBuffer(read)) return read;
  throw new MessageTooLargeError(read.id);
}

async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // The stream must outlive a refusal: the answer still goes out on its socket.
    yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new ToolError(ToolErrorCode.Cancelled, "Cannot read the body: the connection ended before it was complete", { cause: error });
  }
}
