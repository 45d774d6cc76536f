import type { AbortSource } from "@rockbot/base";
import { type Envelope, Header, ToolError, ToolErrorCode, type ToolInvokeResponse } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { BlobStore } from "@rockbot/records/blobs";
import { inTime } from "../layers/deadline.ts";
import { FETCH_GRACE_MS } from "../limits.ts";
import { fetchAnswer, fetchError } from "../messages/claim-check.ts";
import { answerOf, misaddressed } from "../messages/reply.ts";

/** Where the answer of a call may lie, and how long it is waited for. */
export interface LeftAnswerOptions {
  readonly store: BlobStore | undefined;
  /** As the request had it; without one an answer was not to be left. */
  readonly capability: string | undefined;
  /** The deadline on the clock of `performance.now()`. */
  readonly deadline: number;
  readonly signal: AbortSource;
}

/**
 * The answer that a message says was left in the blob store: see claim-check.ts. Undefined if the message is the answer
 * itself.
 * @throws {ToolError} if it is not there, is not the answer to this call, or does not come in time
 */
export function leftAnswer(
  reply: Envelope,
  call: { readonly toolCallId: string; readonly toolName: string },
  { store, capability, deadline, signal }: LeftAnswerOptions,
): Promise<ToolInvokeResponse> | undefined {
  const reference = reply.headers[Header.Blob];
  if (reference === undefined || store === undefined || capability === undefined) return undefined;
  const { toolName } = call;
  const late = () => fetchError(toolName, new StoreUnavailableError("not in time"));
  const leftMs = Math.max(0, deadline - performance.now()) + FETCH_GRACE_MS;
  return inTime(fetchAnswer(store, reference, { capability, toolName }), { signal, leftMs, late }).then((body) => {
    const answer = answerOf({ ...reply, body }, call);
    if (answer === undefined)
      throw misaddressed(
        toolName,
        new ToolError(ToolErrorCode.ExecutionFailed, "the result in the blob store is of another call"),
      );
    if (answer instanceof ToolError) throw answer;
    return answer;
  });
}
