import { redactValue } from "@rockbot/base/redaction";
import {
  decodeMessage,
  type Envelope,
  encodeMessage,
  errorReply,
  type MessageFault,
  messages,
  saidBy,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  toolErrorFrom,
  UncarriableError,
} from "@rockbot/contracts";

/** The call that an answer names. */
type Ids = Pick<ToolInvokeRequest, "toolCallId" | "toolName">;

/** The answer to a call as it crosses the bus. */
export interface EncodedReply {
  /** The payload's name on the wire. */
  readonly type: string;
  readonly body: Uint8Array;
}

/** The longest words in an error that cannot be read otherwise. */
const MAX_SAID = 500;

/**
 * Responses that were encoded to be kept, which are sent right after. They name their call, so they are encoded alike
 * for everybody.
 */
const encodedResponses = new WeakMap<ToolInvokeResponse, EncodedReply>();

/** As `encodeReply`; who encodes the same response after this gets the same bytes. */
export function encodeReplyToKeep(request: Ids, reply: ToolInvokeResponse | ToolError): EncodedReply {
  const encoded = encodeReply(request, reply);
  if (!(reply instanceof ToolError)) encodedResponses.set(reply, encoded);
  return encoded;
}

/**
 * Without the secrets of this process, wherever in the answer they stand.
 * @throws {ToolError} if a response cannot be carried; an error always can, if need be without its details
 */
export function encodeReply(request: Ids, reply: ToolInvokeResponse | ToolError): EncodedReply {
  if (reply instanceof ToolError) return { type: messages.ToolError.type, body: encodeError(request, reply) };
  const encoded = encodedResponses.get(reply);
  if (encoded !== undefined) return encoded;
  try {
    return { type: messages.ToolInvokeResponse.type, body: encodeMessage("ToolInvokeResponse", redactValue(reply)) };
  } catch (error) {
    throw uncarriable(request, error);
  }
}

function encodeError(request: Ids, error: ToolError): Uint8Array {
  try {
    return encodeMessage("ToolError", redactValue(errorReply(request, error)));
  } catch {
    const { code, message, isRetryable, retryAfterMs } = error;
    return encodeMessage(
      "ToolError",
      redactValue(errorReply(request, new ToolError(code, message, { isRetryable, retryAfterMs }))),
    );
  }
}

/** The error of a tool whose result is not JSON that readers take. */
function uncarriable({ toolName }: Ids, cause: unknown): ToolError {
  const why = cause instanceof UncarriableError ? cause.message : "nests too deep or refers to itself";
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `"${toolName}" has run, and its result cannot be carried: it ${why}. Ask for less of it.`,
    {
      cause,
      details: { reason: "uncarriable", mayHaveRun: true },
    },
  );
}

/** The answer in a body; without a type, its content tells that it is one. Undefined if it is none. */
export function decodeReply(body: Uint8Array, type?: string): ToolInvokeResponse | ToolError | undefined {
  return readReply(body, type).reply;
}

/** The content of a body. For one that is no answer it says why, and may name a call all the same. */
interface ReadReply {
  readonly ids: Partial<Record<keyof Ids | "message", unknown>>;
  readonly reply?: ToolInvokeResponse | ToolError;
  readonly fault?: Pick<MessageFault, "message" | "reason">;
}

function readReply(body: Uint8Array, type?: string): ReadReply {
  let fault: MessageFault | undefined;
  if (type === undefined || isType(type, messages.ToolError.type)) {
    const error = decodeMessage("ToolError", body);
    if (error.ok) return { ids: error.value, reply: toolErrorFrom(error.value) };
    fault = error.fault;
  }
  if (type === undefined || isType(type, messages.ToolInvokeResponse.type)) {
    const response = decodeMessage("ToolInvokeResponse", body);
    if (response.ok) return { ids: response.value, reply: response.value };
    fault = response.fault;
  }
  if (fault !== undefined) return { ids: idsIn(fault.value), fault };
  const named = decodeMessage("ToolInvokeResponse", body); // its ids, if those can be read
  const message = `a message of the type ${JSON.stringify(type?.slice(0, 80))} is no answer`;
  return { ids: idsIn(named.ok ? named.value : named.fault.value), fault: { reason: "invalid", message } };
}

const isType = (given: string, type: string): boolean => given === type || given.toLowerCase() === type.toLowerCase();

const idsIn = (value: unknown): ReadReply["ids"] => (typeof value === "object" && value !== null ? value : {});

/** The call that a body names, for an answer without a correlation. */
export const callNamedIn = (body: Uint8Array): string | undefined => {
  const { toolCallId } = readReply(body).ids;
  return typeof toolCallId === "string" ? toolCallId : undefined;
};

/**
 * The answer to a call, which a message with its correlation is. One that cannot be read is a failure of the call in
 * words, so that nobody waits for a better one. Undefined if it names another call, or none: then it may be anybody's.
 */
export function answerOf(
  { body, type }: Envelope,
  { toolCallId, toolName }: Ids,
): ToolInvokeResponse | ToolError | undefined {
  const { ids, reply, fault } = readReply(body, type);
  const isNamed = ids.toolCallId === toolCallId && ids.toolName === toolName;
  if (reply !== undefined) return isNamed ? reply : undefined;
  const isText = !Object.hasOwn(ids, "toolCallId") && (fault?.reason === "not_json" || fault?.reason === "not_utf8");
  if (fault === undefined || !(ids.toolCallId === toolCallId || isText)) return undefined;
  const said = typeof ids.message === "string" ? ` It says: ${ids.message.slice(0, MAX_SAID)}` : "";
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `"${toolName}" gave an answer that cannot be read: ${fault.message}. It may have run.${said}`,
    {
      details: { reason: fault.reason, mayHaveRun: true },
      ...(said === "" ? {} : { trust: saidBy(toolName) }),
    },
  );
}

/** The error of a call whose deadline brought the answer to another one, as far as that answer says. */
export const misaddressed = (toolName: string, cause: unknown): ToolError =>
  new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `"${toolName}" was answered with a message that names another call, or none, and with nothing else by the deadline. It may have run: find out before you call it again.`,
    { cause, details: { reason: "answer_of_another_call", mayHaveRun: true } },
  );
