import type { Logger } from "@rockbot/bus";
import {
  createEnvelope,
  Header,
  messages,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  textResponse,
} from "@rockbot/contracts";
import type { Decision } from "@rockbot/policy";
import type { BlobStore } from "@rockbot/records/blobs";
import type { CallSteps } from "../layers/call-steps.ts";
import { BLOB_GRACE_MS, MAX_BLOB_RESULT_BYTES, MAX_RESULT_BYTES } from "../limits.ts";
import { isForBlob, leaveAnswer } from "../messages/claim-check.ts";
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
  /** The form of the request. @default that of tool requests */
  readonly form?: RequestForm | undefined;
  /** Gets its line. */
  readonly entry?: CallEntry | undefined;
  readonly decision?: Decision | undefined;
  /** The name it is announced with. @default as the request has it */
  readonly toolName?: string | undefined;
  /** How many updates went before it. @default none */
  readonly progress?: number | undefined;
  readonly steps?: CallSteps | undefined;
}

export interface AnswerWriterOptions {
  readonly answers: AnswerPublisher;
  readonly service: string;
  /** Provider of foreign tools, such as `mcp`. */
  readonly provider: string | undefined;
  /** Where large answers are left for callers that ask for that. */
  readonly blobs: BlobStore | undefined;
  readonly log: Logger;
}

/**
 * Writes answers in the form of their requests. One that is too large for the bus is left in the blob store, where the
 * caller asks for that. One that cannot be written, or is too large for either, becomes an error that says so.
 */
export class AnswerWriter {
  readonly #options: AnswerWriterOptions;
  readonly #labels: Readonly<Record<string, string>>;

  constructor(options: AnswerWriterOptions) {
    this.#options = options;
    const { provider } = options;
    this.#labels =
      provider === undefined ? {} : { [Header.ContentTrust]: "tool-output", [Header.ToolProvider]: provider };
  }

  /**
   * Publishes an answer. Writes the audit line first, so that every published answer has one.
   * @param deadline of the call, on the clock of `performance.now()`
   */
  async write(address: Address, request: Ids, reply: Reply, deadline: number, notes: AnswerNotes = {}): Promise<void> {
    const { form = toolRequestForm, entry, decision, toolName = request.toolName, progress = 0, steps } = notes;
    const written = write(form, request, reply);
    const leaving = this.#leave(written.encoded, address, form, deadline);
    const left = leaving === undefined ? undefined : await leaving;
    const { sent, encoded } =
      left === undefined
        ? bounded(form, request, written)
        : { sent: written.sent, encoded: form.write(request, textResponse(request, null)) };
    const noted = entry?.end({ toolCallId: request.toolCallId, toolName }, sent, decision);
    if (noted !== undefined) await noted;
    const headers: Record<string, string> = { ...this.#labels };
    if (decision !== undefined) headers[Header.Policy] = decision.revision;
    if (steps !== undefined) headers[Header.Steps] = steps.text();
    if (left !== undefined) headers[Header.Blob] = left;
    if (progress > 0) headers[Header.Progress] = String(progress);
    await this.#publish(address, encoded, headers, deadline);
  }

  /** Asks the caller of a call that came by the fast lane to ask by the durable way. */
  async askDurably(address: Address, request: Ids, deadline: number): Promise<void> {
    const why = new ToolError(
      ToolErrorCode.Unavailable,
      `"${request.toolName}" did not run this call as it came. Try again.`,
      { details: { mayHaveRun: true } },
    );
    await this.#publish(address, toolRequestForm.write(request, why), { [Header.Lane]: "durable" }, deadline);
  }

  #publish(address: Address, { type, body }: EncodedReply, headers: Record<string, string>, deadline: number) {
    const { topic, correlationId, caller, isTransient } = address;
    const { answers, service } = this.#options;
    const answer = createEnvelope({ topic, type, source: service, correlationId, headers, body });
    return answers.publish(answer, caller, deadline, isTransient);
  }

  /** How large an answer may be. */
  mostBytes({ blob }: Address, form = toolRequestForm): number {
    const isLeft = this.#options.blobs !== undefined && blob !== undefined && form === toolRequestForm;
    return isLeft ? MAX_BLOB_RESULT_BYTES : MAX_RESULT_BYTES;
  }

  /**
   * Leaves a large answer in the blob store, if the caller asks for that.
   * @returns the reference to it; undefined if the answer goes by the bus
   */
  #leave(
    { type, body }: EncodedReply,
    { blob: capability, caller }: Address,
    form: RequestForm,
    deadline: number,
  ): Promise<string | undefined> | undefined {
    const { blobs, log } = this.#options;
    if (
      blobs === undefined ||
      capability === undefined ||
      form !== toolRequestForm ||
      type !== messages.ToolInvokeResponse.type ||
      !isForBlob(body.byteLength)
    ) {
      return undefined;
    }
    const ttlMs = Math.max(0, deadline - performance.now()) + BLOB_GRACE_MS;
    return leaveAnswer(blobs, body, { capability, owner: caller, ttlMs }).catch((error: unknown) => {
      log.warn(
        { caller, bytes: body.byteLength, reason: error instanceof Error ? error.message : String(error) },
        "could not leave a large result in the blob store",
      );
      return undefined;
    });
  }
}

interface Written {
  readonly sent: Reply;
  readonly encoded: EncodedReply;
}

function write(form: RequestForm, request: Ids, reply: Reply): Written {
  try {
    return { sent: reply, encoded: form.write(request, reply) };
  } catch (error) {
    return failure(form, request, error);
  }
}

/** The answer, cut to what the bus carries. */
function bounded(form: RequestForm, request: Ids, written: Written): Written {
  const bytes = written.encoded.body.byteLength;
  if (bytes <= MAX_RESULT_BYTES) return written;
  const carried = `the ${MAX_RESULT_BYTES} that the bus carries; the blob store takes ${MAX_BLOB_RESULT_BYTES}, where caller and service have it and it has room`;
  return failure(
    form,
    request,
    new ToolError(
      ToolErrorCode.TooLarge,
      `"${request.toolName}" gave a result of ${bytes} bytes, more than ${carried}. Ask for less.`,
    ),
  );
}

function failure(form: RequestForm, request: Ids, error: unknown): Written {
  const sent = toToolError(error, request.toolName);
  return { sent, encoded: form.write(request, sent) };
}
