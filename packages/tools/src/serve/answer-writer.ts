import { createEnvelope, Header, ToolError, ToolErrorCode, type ToolInvokeRequest, type ToolInvokeResponse } from "@rockbot/contracts";
import type { Decision } from "@rockbot/policy";
import { MAX_RESULT_BYTES } from "../limits.ts";
import type { EncodedReply } from "../messages/reply.ts";
import { type RequestForm, toolRequestForm } from "../messages/request-form.ts";
import { toToolError } from "../to-tool-error.ts";
import type { AnswerPublisher } from "./answer-publisher.ts";
import type { CallEntry } from "./call-audit.ts";
import type { Address } from "./read-request.ts";

export type Reply = ToolInvokeResponse | ToolError;
type Ids = Pick<ToolInvokeRequest, "toolCallId" | "toolName">;

/** The facts of a call beside its answer. */
export interface AnswerNotes {
  /** Of the request. @default that of tool requests */
  readonly form?: RequestForm | undefined;
  /** Gets its line. */
  readonly entry?: CallEntry | undefined;
  readonly decision?: Decision | undefined;
  /** The name it is announced with. @default as the request has it */
  readonly toolName?: string | undefined;
  /** How many updates went before it. @default none */
  readonly progress?: number | undefined;
}

export interface AnswerWriterOptions {
  readonly answers: AnswerPublisher;
  readonly service: string;
  /** Whose tools they are, if not the service's own. */
  readonly provider: string | undefined;
}

/** Writes answers in the form of their requests. One that cannot be written, or is too large, becomes an error that says so. */
export class AnswerWriter {
  readonly #options: AnswerWriterOptions;
  readonly #labels: Readonly<Record<string, string>>;

  constructor(options: AnswerWriterOptions) {
    this.#options = options;
    const { provider } = options;
    this.#labels = provider === undefined ? {} : { [Header.ContentTrust]: "tool-output", [Header.ToolProvider]: provider };
  }

  /**
   * Publishes an answer. The line of the audit log comes first: no answer is known that it does not know.
   * @param deadline of the call, on the clock of `performance.now()`
   */
  async write(address: Address, request: Ids, reply: Reply, deadline: number, notes: AnswerNotes = {}): Promise<void> {
    const { form = toolRequestForm, entry, decision, toolName = request.toolName, progress = 0 } = notes;
    const { sent, encoded } = encode(form, request, reply);
    const noted = entry?.end({ toolCallId: request.toolCallId, toolName }, sent, decision);
    if (noted !== undefined) await noted;
    const headers: Record<string, string> = { ...this.#labels };
    if (decision !== undefined) headers[Header.Policy] = decision.revision;
    if (progress > 0) headers[Header.Progress] = String(progress);
    const { topic, correlationId, caller } = address;
    const { type, body } = encoded;
    const { answers, service } = this.#options;
    await answers.publish(createEnvelope({ topic, type, source: service, correlationId, headers, body }), caller, deadline);
  }
}

function encode(form: RequestForm, request: Ids, reply: Reply): { readonly sent: Reply; readonly encoded: EncodedReply } {
  try {
    const encoded = form.write(request, reply);
    if (encoded.body.byteLength <= MAX_RESULT_BYTES) return { sent: reply, encoded };
    const found = `a result of ${encoded.body.byteLength} bytes, more than the ${MAX_RESULT_BYTES} that are carried`;
    throw new ToolError(ToolErrorCode.TooLarge, `"${request.toolName}" gave ${found}. Ask for less.`);
  } catch (error) {
    const sent = toToolError(error, request.toolName);
    return { sent, encoded: form.write(request, sent) };
  }
}
