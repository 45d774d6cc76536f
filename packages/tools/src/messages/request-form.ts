import {
  decodeMessage,
  messages,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { decodeReply, type EncodedReply, encodeReply } from "./reply.ts";

/** The call that an answer names. */
type Ids = Pick<ToolInvokeRequest, "toolCallId" | "toolName">;

/** A request that could be read. */
export interface RequestedCall {
  readonly request: ToolInvokeRequest;
  /** How long the caller waits, where no header says it, in milliseconds. @default see waitsMs */
  readonly budgetMs?: number | undefined;
}

/**
 * A kind of request that stands for a tool call, and how its answer is written. Services take ToolInvokeRequests, and
 * what further forms they are given: those of peers that speak other messages. Claims, policy and limits see the call
 * alone.
 */
export interface RequestForm {
  /** The payload's name on the wire. */
  readonly type: string;
  /** Where the answer goes to a request that names no topic. */
  readonly replyTopic: string;
  /** The call that a body asks for, or why it asks for none. Total. */
  read(body: Uint8Array): RequestedCall | ToolError;
  /** The answer's form on the wire, without the secrets of this process. */
  write(request: Ids, reply: ToolInvokeResponse | ToolError): EncodedReply;
  /** The content of a written answer, as far as this form can say; undefined if the answer is in another form. */
  readReply(body: Uint8Array, type: string): ToolInvokeResponse | ToolError | undefined;
}

/** The form that every service takes. */
export const toolRequestForm: RequestForm = {
  type: messages.ToolInvokeRequest.type,
  replyTopic: "tool.result", // as in the original
  read(body) {
    const decoded = decodeMessage("ToolInvokeRequest", body);
    if (decoded.ok) return { request: decoded.value };
    return new ToolError(ToolErrorCode.InvalidArguments, decoded.fault.message, {
      details: { reason: decoded.fault.reason, faults: decoded.fault.faults },
    });
  },
  write: encodeReply,
  readReply: decodeReply,
};

/** The form that a message has; that of tool requests if it has none of them. */
export function formOf({ type }: { readonly type: string }, forms: readonly RequestForm[]): RequestForm {
  return forms.find((form) => isOfForm(type, form)) ?? toolRequestForm;
}

/** True if a type's name is that of a form, in any case. */
export const isOfForm = (type: string, form: RequestForm): boolean =>
  type === form.type || type.toLowerCase() === form.type.toLowerCase();
