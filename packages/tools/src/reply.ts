import {
  decodeMessage,
  type Envelope,
  encodeMessage,
  errorReply,
  messages,
  ToolError,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  toolErrorFrom,
} from "@rockbot/contracts";
import { redactValue } from "@rockbot/redaction";

/** The call that an answer names. */
type Ids = Pick<ToolInvokeRequest, "toolCallId" | "toolName">;

/** The answer to a call as it crosses the bus. */
export interface EncodedReply {
  /** The payload's name on the wire. */
  readonly type: string;
  readonly body: Uint8Array;
}

/** Responses that were encoded to be kept, which are sent right after. They name their call, so they are encoded alike for everybody. */
const encodedResponses = new WeakMap<ToolInvokeResponse, EncodedReply>();

/** As `encodeReply`; who encodes the same response after this gets the same bytes. */
export function encodeReplyToKeep(request: Ids, reply: ToolInvokeResponse | ToolError): EncodedReply {
  const encoded = encodeReply(request, reply);
  if (!(reply instanceof ToolError)) encodedResponses.set(reply, encoded);
  return encoded;
}

/** Without the secrets of this process, wherever in the answer they stand. */
export function encodeReply(request: Ids, reply: ToolInvokeResponse | ToolError): EncodedReply {
  return reply instanceof ToolError
    ? { type: messages.ToolError.type, body: encodeMessage("ToolError", redactValue(errorReply(request, reply))) }
    : (encodedResponses.get(reply) ?? { type: messages.ToolInvokeResponse.type, body: encodeMessage("ToolInvokeResponse", redactValue(reply)) });
}

/** The answer in a body; without its type it is told by what it says. Undefined if it is none. */
export function decodeReply(body: Uint8Array, type?: string): ToolInvokeResponse | ToolError | undefined {
  return readReply(body, type)?.reply;
}

/** The same with the ids it carries, which whoever takes it compares. */
function readReply(body: Uint8Array, type?: string): { readonly ids: Ids; readonly reply: ToolInvokeResponse | ToolError } | undefined {
  if (type === undefined || type === messages.ToolError.type) {
    const error = decodeMessage("ToolError", body);
    if (error.ok) return { ids: error.value, reply: toolErrorFrom(error.value) };
  }
  if (type === undefined || type === messages.ToolInvokeResponse.type) {
    const response = decodeMessage("ToolInvokeResponse", body);
    if (response.ok) return { ids: response.value, reply: response.value };
  }
  return undefined;
}

/** The answer to a call; undefined if the message is none, whatever its correlation says. */
export function answerOf({ body, type }: Envelope, { toolCallId, toolName }: Ids): ToolInvokeResponse | ToolError | undefined {
  const read = readReply(body, type);
  return read !== undefined && read.ids.toolCallId === toolCallId && read.ids.toolName === toolName ? read.reply : undefined;
}
