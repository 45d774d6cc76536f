import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  MAX_REQUEST_BYTES,
  type ParsedJson,
  parseArguments,
  parseJson,
  ToolError,
  ToolErrorCode,
} from "@rockbot/contracts";
import { BodyTooLargeError, readIncoming, readIncomingMessage } from "@rockbot/edge/body";
import { HttpErrorCode } from "./http-error.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The expected content of a body, for the words of a refusal. */
interface Expected {
  readonly what: string;
  readonly send: string;
}

const ARGUMENTS: Expected = { what: "the arguments", send: "one JSON object that holds the tool's arguments" };
const MESSAGE: Expected = { what: "the message", send: "one message of the protocol MCP, as JSON" };
const CHAT: Expected = { what: "the request", send: "one JSON object, as OpenAI's clients do" };
const LOGIN: Expected = { what: "the code", send: 'one JSON object, {"code": "…"}, of at most 1024 bytes' };
const MAX_LOGIN_BYTES = 1024;
const A2A: Expected = { what: "the request", send: "one JSON object, as A2A has it" };

/**
 * A request's body as it came, or undefined if there is none. If the body cannot be read it is the error for that,
 * which the handler throws that needs the body.
 */
export type ReceivedBody = Buffer | ToolError | undefined;

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";

/**
 * Reads a body to its end. Never rejects.
 * @param isMessage whether it is one of MCP, which is searched for its id if it is too large; any other is left there
 */
export async function receiveBody(incoming: IncomingMessage, isMessage: boolean): Promise<ReceivedBody> {
  try {
    if (!isMessage) {
      if (Number(incoming.headers["content-length"]) > MAX_REQUEST_BYTES)
        return new ToolError(ToolErrorCode.TooLarge, TOO_LARGE);
      return await readIncoming(incoming, MAX_REQUEST_BYTES);
    }
    const read = await readIncomingMessage(incoming, MAX_REQUEST_BYTES);
    return Buffer.isBuffer(read) ? read : new McpRequestTooLargeError(read.id);
  } catch (error) {
    if (error instanceof BodyTooLargeError) return new ToolError(ToolErrorCode.TooLarge, TOO_LARGE);
    return cutOff(error);
  }
}

/** The error for a body that ended early. */
export const cutOff = (cause: unknown): ToolError =>
  new ToolError(ToolErrorCode.Cancelled, "Cannot read the body: the connection ended before it was complete", {
    cause,
  });

/** The stream outlives a refusal: the answer still goes out on its socket. */
export const chunksOf = (incoming: IncomingMessage): AsyncIterable<Buffer> =>
  incoming.iterator({ destroyOnReturn: false });

/**
 * The arguments in a request's body: a JSON object. No body is no arguments.
 * @throws {ToolError} in words for the client, whatever came
 */
export function readArguments(body: ReceivedBody, headers: IncomingHttpHeaders): object {
  return readObject(readJson(body, headers, ARGUMENTS) ?? {}, ARGUMENTS);
}

/**
 * The JSON object in the body of a request for a chat completion. A number of more digits than JavaScript keeps is
 * rounded: clients send seeds.
 * @throws {ToolError} in words for the client, whatever came
 */
export function readChatBody(body: ReceivedBody, headers: IncomingHttpHeaders): Readonly<Record<string, unknown>> {
  const value = readJson(body, headers, CHAT, parseJson);
  if (value === undefined) throw invalid(CHAT, "it is empty");
  return readObject(value, CHAT);
}

/**
 * Reads the code from the body of a login, of a stranger still.
 * @throws {ToolError} in words for the client, whatever came
 */
export async function readLogin(incoming: IncomingMessage): Promise<string> {
  const body = await readIncoming(incoming, MAX_LOGIN_BYTES).catch(() => undefined);
  const { code } = readObject(readJson(body, incoming.headers, LOGIN, parseJson) ?? {}, LOGIN);
  if (typeof code !== "string") throw invalid(LOGIN, "it is empty, too large, or has no code");
  return code;
}

/**
 * The JSON object in the body of a request of A2A; an empty one without a body.
 * @throws {ToolError} in words for the client, whatever came
 */
export function readA2aBody(body: ReceivedBody, headers: IncomingHttpHeaders): Readonly<Record<string, unknown>> {
  const type = headers["content-type"]?.replace(/^application\/a2a\+json/i, "application/json");
  return readObject(readJson(body, { ...headers, "content-type": type }, A2A, parseJson) ?? {}, A2A);
}

/**
 * The message of MCP in a request's body. The protocol decides whether it is a message.
 * @throws {McpRequestTooLargeError} with its id
 * @throws {ToolError} in words for the client, if it is not JSON
 */
export function readMcpMessage(body: ReceivedBody, headers: IncomingHttpHeaders): unknown {
  const value = readJson(body, headers, MESSAGE);
  if (value === undefined) throw invalid(MESSAGE, "it is empty");
  return value;
}

/** A client of a protocol with ids waits for an answer to its request, and makes little of any other. */
export class McpRequestTooLargeError extends ToolError {
  /** The id of the request; undefined if none could be found. */
  readonly id: string | number | undefined;

  constructor(id: string | number | undefined) {
    super(ToolErrorCode.TooLarge, TOO_LARGE);
    this.id = id;
  }
}

function readObject(value: unknown, expected: Expected): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid(expected, "it is JSON, but not an object");
  return value as Record<string, unknown>;
}

/** At most as many bytes as a request on the bus may have. */
const TOO_LARGE = `Cannot read the body: it is larger than ${MAX_REQUEST_BYTES} bytes. Send less`;

/** @returns undefined if there is nothing but white space */
function readJson(
  body: ReceivedBody,
  headers: IncomingHttpHeaders,
  expected: Expected,
  parse: (text: string) => ParsedJson = parseArguments,
): unknown {
  if (body === undefined) return undefined;
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
  if (body instanceof ToolError) throw body;
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw invalid(expected, "it is not UTF-8");
  }
  if (text.trim() === "") return undefined;
  const parsed = parse(text);
  if (!parsed.ok) throw invalid(expected, `it is ${parsed.fault.message}`);
  return parsed.value;
}

const invalid = ({ what, send }: Expected, fault: string): ToolError =>
  new ToolError(ToolErrorCode.InvalidArguments, `Cannot read ${what} from the body: ${fault}. Send ${send}`);
