import { isRecord } from "@rockbot/base";
import { MAX_REQUEST_BYTES, parseArguments, ToolErrorCode } from "@rockbot/contracts";
import type { TooLargeMessage } from "@rockbot/edge/body";

/** The content of a client's message, or the answer that it gets instead. */
export type InboundMessage =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly answer: InboundRefusal };

/** An error of JSON-RPC. The id is that of the message, if it could be found. */
export interface InboundRefusal {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly data: { readonly code: string; readonly message: string; readonly isRetryable: false };
  };
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a client's message by the rules for arguments: what would not arrive as it was sent is refused in words. */
export function readInbound(read: Buffer | TooLargeMessage): InboundMessage {
  if (!Buffer.isBuffer(read))
    return refuse(
      read.id,
      INVALID_REQUEST,
      ToolErrorCode.TooLarge,
      `Cannot read the message: it is larger than ${MAX_REQUEST_BYTES} bytes. Send less`,
    );
  let text: string;
  try {
    text = utf8.decode(read);
  } catch {
    return refuse(undefined, PARSE_ERROR, ToolErrorCode.InvalidArguments, "Cannot read the message: it is not UTF-8");
  }
  const parsed = parseArguments(text);
  if (parsed.ok) return parsed;
  const { reason, message, value } = parsed.fault;
  const code = reason === "not_json" ? PARSE_ERROR : INVALID_REQUEST;
  return refuse(idOf(value), code, ToolErrorCode.InvalidArguments, `Cannot read the message: it is ${message}`);
}

/** For a message that is none as the protocol has it. */
export const refuseMalformed = (value: unknown): InboundRefusal =>
  Array.isArray(value)
    ? refuse(undefined, INVALID_REQUEST, ToolErrorCode.InvalidArguments, "Send one message: batches are not taken")
        .answer
    : refuse(
        idOf(value),
        INVALID_REQUEST,
        ToolErrorCode.InvalidArguments,
        "Cannot read the message: it is not a message of MCP",
      ).answer;

function idOf(value: unknown): string | number | undefined {
  const id = isRecord(value) ? value["id"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function refuse(
  id: string | number | undefined,
  code: number,
  reason: string,
  message: string,
): { readonly ok: false; readonly answer: InboundRefusal } {
  return {
    ok: false,
    answer: {
      jsonrpc: "2.0",
      id: id ?? null,
      error: { code, message, data: { code: reason, message, isRetryable: false } },
    },
  };
}
