import { LightAbort } from "@rockbot/base";
import { BusClosedError, type Logger, type Requester, RequestTimeoutError } from "@rockbot/bus";
import {
  type Envelope,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  timeoutError,
} from "@rockbot/contracts";
import type { BlobStore } from "@rockbot/records/blobs";
import {
  ANSWER_KEPT_MS,
  type CallJournal,
  type CallNotes,
  type CallRecord,
  CallState,
  type JournalStore,
} from "@rockbot/records/journal";
import type { ToolContext } from "../define/tool-executor.ts";
import { MAX_TIMEOUT_MS } from "../limits.ts";
import { hashRequest } from "../messages/hash-request.ts";
import type { Identity } from "../messages/identity.ts";
import { answerOf, encodeReply, misaddressed } from "../messages/reply.ts";
import { toToolError } from "../to-tool-error.ts";
import { leftAnswer } from "./left-answer.ts";

/** A call that an earlier process of this caller had out. */
export interface ResumedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The effective caller, if that was not the agent itself. */
  readonly onBehalfOf: string | undefined;
  /** Settles once, as the call would have. Nobody needs to handle its rejection. */
  readonly answer: Promise<ToolInvokeResponse>;
  /** True if there is no answer yet. */
  readonly isOpen: boolean;
}

/**
 * Answers that came while nobody was there have this long to be handed over, though their calls' deadlines are over.
 */
const GRACE_MS = 2_000;
/** A call that cannot be sent now is sent after this long. */
const SEND_AGAIN_MS = 1_000;
/** An answer that was left in the blob store is fetched in less, whatever the deadline was. */
const FETCH_MS = 10_000;

export interface ResumeCallsOptions {
  readonly caller: string;
  readonly store: JournalStore | undefined;
  readonly requester: Requester;
  readonly journal: CallJournal;
  readonly identity: Identity;
  readonly blobs: BlobStore | undefined;
  readonly log: Logger;
}

/** A call that was taken up, as its journal had it. */
interface TakenUpCall extends ResumedCall {
  readonly record: CallRecord;
  readonly notes: CallNotes;
  /**
   * Sends it again after so many milliseconds, if it has no answer by then; undefined until it is known what to send.
   */
  again: ((afterMs: number) => void) | undefined;
}

type Sent = NonNullable<CallRecord["sent"]>;

/** Sends a call that was taken up. Resolves once the bus has it. @throws if it cannot be sent now */
export type SendTakenUp = (record: CallRecord, sent: Sent, isWanted: () => boolean) => Promise<void>;

/** The calls that were taken up, until their answers are not kept any more. */
export class ResumedCalls {
  readonly #byId: Map<string, TakenUpCall>;
  #send: SendTakenUp | undefined;

  constructor(calls: readonly TakenUpCall[]) {
    this.#byId = new Map(calls.map((call) => [call.toolCallId, call]));
    for (const { toolCallId, answer } of calls) {
      const forget = () => void setTimeout(() => this.#byId.delete(toolCallId), ANSWER_KEPT_MS).unref();
      answer.then(forget, forget);
    }
  }

  get all(): readonly ResumedCall[] {
    return [...this.#byId.values()];
  }

  has(toolCallId: string): boolean {
    return this.#byId.has(toolCallId);
  }

  /** The call of this id, if it has no answer yet. */
  open(toolCallId: string): ResumedCall | undefined {
    const call = this.#byId.get(toolCallId);
    return call?.isOpen ? call : undefined;
  }

  /**
   * Sends those that have no answer once more, under their ids. The process before may not have come to it, or may have
   * had an answer that it has not noted. Services claim calls, so none of them runs twice by that.
   */
  sendAgain(send: SendTakenUp): void {
    this.#send = send;
    for (const call of this.#byId.values())
      if (call.record.sent !== undefined) this.#keepSending(call, call.record.sent);
  }

  /** The same call is asked for again: if the journal did not say what it is, that is sent now. */
  repeat(request: ToolInvokeRequest, { depth = 0, hasReadUntrusted = false, grant }: ToolContext): void {
    const { toolCallId, arguments: args = null, sessionId = null } = request;
    const call = this.#byId.get(toolCallId);
    if (call === undefined || call.again !== undefined || call.record.request !== hashRequest(request)) return;
    this.#keepSending(call, { arguments: args, sessionId, depth, hasReadUntrusted, grant });
  }

  #keepSending(call: TakenUpCall, sent: Sent): void {
    const isWanted = (): boolean => call.isOpen && call.record.deadlineAt > Date.now();
    const now = async (): Promise<void> => {
      if (!isWanted()) return;
      try {
        await this.#send?.(call.record, sent, isWanted);
        if (call.isOpen) call.notes.note(CallState.Accepted);
      } catch {
        call.again?.(SEND_AGAIN_MS);
      }
    };
    call.again = (afterMs) => void setTimeout(now, afterMs).unref();
    void now();
  }
}

/** Takes up the calls that the journal says are out. All of them wait before the first answer can come. */
export async function resumeCalls(options: ResumeCallsOptions): Promise<ResumedCalls> {
  return new ResumedCalls(await takeUp(options));
}

async function takeUp({
  caller,
  store,
  requester,
  journal,
  identity,
  blobs,
  log,
}: ResumeCallsOptions): Promise<readonly TakenUpCall[]> {
  if (store === undefined) return [];
  let records: readonly CallRecord[];
  try {
    records = await store.readOpen(caller);
  } catch (error) {
    log.error(
      { caller, error: String(error) },
      "could not read the journal, so answers to earlier calls are not found",
    );
    return [];
  }
  if (records.length > 0)
    log.info({ caller, calls: records.length }, "waits for answers to calls of an earlier process");
  return records.map((record) => {
    let isOpen = true;
    const { toolCallId, toolName, onBehalfOf } = record;
    const call: Omit<TakenUpCall, "answer"> = {
      toolCallId,
      toolName,
      onBehalfOf,
      get isOpen() {
        return isOpen;
      },
      record,
      notes: journal.resumed(record),
      again: undefined,
    };
    const answer = awaitAnswer(call, { requester, journal, identity, blobs }).finally(() => {
      isOpen = false;
    });
    answer.catch(() => {});
    return Object.assign(call, { answer });
  });
}

/** While a call runs, one more message may be too many. */
const tooMany: ReadonlySet<string> = new Set([ToolErrorCode.Overloaded, ToolErrorCode.RateLimited]);

async function awaitAnswer(
  call: Omit<TakenUpCall, "answer">,
  { requester, journal, identity, blobs }: Pick<ResumeCallsOptions, "requester" | "journal" | "identity" | "blobs">,
): Promise<ToolInvokeResponse> {
  const { record, notes } = call;
  const { toolCallId, toolName, deadlineAt } = record;
  let isMisaddressed = false;
  try {
    let answer: ToolInvokeResponse | ToolError | undefined;
    let reply: Envelope | undefined;
    await requester.await(toolCallId, {
      timeoutMs: Math.min(Math.max(deadlineAt - Date.now(), GRACE_MS), MAX_TIMEOUT_MS),
      accept(received) {
        if (!identity.mayAnswer(toolName, received)) return false;
        answer = answerOf(received, record);
        reply = received;
        const isTooMany = answer instanceof ToolError && tooMany.has(answer.code) && call.again !== undefined;
        if (isTooMany) call.again?.((answer as ToolError).retryAfterMs ?? SEND_AGAIN_MS);
        if (isTooMany) return false;
        isMisaddressed ||= answer === undefined;
        if (answer !== undefined) notes.servedBy(undefined, received.headers);
        return answer !== undefined;
      },
    });
    if (answer instanceof ToolError) throw answer;
    const deadline = performance.now() + FETCH_MS;
    const left = await leftAnswer(reply as unknown as Envelope, record, {
      store: blobs,
      capability: record.blob,
      deadline,
      signal: new LightAbort(),
    });
    const response = left ?? (answer as unknown as ToolInvokeResponse);
    journal.gave(notes, textOf(response));
    notes.note(CallState.Answered);
    journal.keepAnswer(toolCallId, encodeReply(record, response).body);
    return response;
  } catch (cause) {
    const error =
      isMisaddressed && cause instanceof RequestTimeoutError
        ? misaddressed(toolName, cause)
        : toCallError(toolName, cause);
    journal.gave(notes, error.message, true);
    notes.note(endOf(error), error.code, reasonOf(error));
    journal.keepAnswer(toolCallId, encodeReply(record, error).body);
    throw error;
  }
}

function toCallError(toolName: string, cause: unknown): ToolError {
  if (cause instanceof BusClosedError)
    return new ToolError(
      ToolErrorCode.Unavailable,
      `The answer of "${toolName}" is left for the next start of this caller, which has ended`,
      {
        cause,
        isRetryable: false,
        details: { mayHaveRun: true },
      },
    );
  if (!(cause instanceof RequestTimeoutError)) return toToolError(cause, toolName);
  return timeoutError(`"${toolName}", whose caller was restarted meanwhile,`, { mayHaveRun: true, cause });
}

/** A result as a text. */
export const textOf = ({ content, structured }: ToolInvokeResponse): string =>
  content ?? (structured === undefined ? "" : JSON.stringify(structured));

/** Why, as one of the words that `details.reason` may be. */
export const reasonOf = ({ details }: ToolError): string | undefined =>
  typeof details?.["reason"] === "string" ? details["reason"] : undefined;

/** The end that an error is, in a journal. */
export function endOf({ code }: ToolError): CallState {
  switch (code) {
    case ToolErrorCode.Timeout:
      return CallState.TimedOut;
    case ToolErrorCode.Cancelled:
      return CallState.Cancelled;
    case ToolErrorCode.OutcomeUnknown:
      return CallState.Unknown;
    default:
      return CallState.Failed;
  }
}
