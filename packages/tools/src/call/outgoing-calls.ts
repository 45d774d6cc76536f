import { metrics } from "@opentelemetry/api";
import { type AbortSource, LightAbort, onAbort, SlotMap } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import {
  newId,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  timeoutError,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { type CallJournal, type CallNotes, CallState } from "@rockbot/records/journal";
import type { ProgressUpdate, ToolContext, ToolExecutor } from "../define/tool-executor.ts";
import type { ToolRegistration, ToolRegistry } from "../define/tool-registry.ts";
import { inTime } from "../layers/deadline.ts";
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from "../limits.ts";
import { newCapability } from "../messages/claim-check.ts";
import { hashRequest } from "../messages/hash-request.ts";
import { encodeReply } from "../messages/reply.ts";
import { toToolError } from "../to-tool-error.ts";
import { argumentsText } from "./arguments-text.ts";
import type { CallOptions } from "./call-options.ts";
import { decide } from "./find/usable-tools.ts";
import { ignoreProgress } from "./remote/remote-executor.ts";
import { endOf, type ResumedCalls, reasonOf, textOf } from "./resume-calls.ts";

export interface OutgoingCallsOptions {
  readonly agent: string;
  /** On whose behalf calls are, unless they say so. */
  readonly self: string;
  readonly maxCallsInFlight: number;
  readonly executor: ToolExecutor;
  readonly registry: ToolRegistry;
  readonly policy: PolicyHolder | undefined;
  readonly journal: CallJournal;
  /** True if the journal outlives this process. */
  readonly isJournalKept: boolean;
  /** True if results may come by the blob store. */
  readonly acceptsBlobs: boolean;
  readonly resumed: ResumedCalls;
  /** Called with the id of each call that has ended. */
  readonly onEnded: (toolCallId: string) => void;
  readonly log: Logger;
}

/** A call that is out. */
interface OutgoingCall {
  readonly request: ToolInvokeRequest;
  readonly caller: string;
  /** Aborting it cancels the call. */
  readonly cancelled: LightAbort;
  keepAnswer: boolean;
  /** What those get who have asked for the same call again. */
  joined: PromiseWithResolvers<ToolInvokeResponse> | undefined;
}

/** The calls of one caller that are out. Each has an id of its own, is noted in the journal, and settles once. */
export class OutgoingCalls {
  readonly #options: OutgoingCallsOptions;
  /** The calls by id. */
  readonly #out = new SlotMap<string, OutgoingCall>();
  readonly #inFlight = metrics
    .getMeter("@rockbot/tools")
    .createUpDownCounter("rockbot.tool.calls.in_flight", { description: "Calls without an answer yet." });
  #isClosed = false;

  constructor(options: OutgoingCallsOptions) {
    this.#options = options;
  }

  /** See ToolCaller.call. */
  async call(name: string, args: object | string | undefined, options: CallOptions): Promise<ToolInvokeResponse> {
    const { self, executor, journal, acceptsBlobs, onEnded } = this.#options;
    const {
      toolCallId = newId(),
      parent,
      timeoutMs = parent === undefined ? DEFAULT_TIMEOUT_MS : MAX_TIMEOUT_MS,
      onBehalfOf: caller = self,
      isNew = options.toolCallId === undefined,
    } = options;
    checkCall(name, toolCallId, timeoutMs);
    if (parent?.checkCall !== undefined)
      parent.checkCall(name, typeof args === "string" ? JSON.parse(args) : (args ?? {}));
    const start = performance.now();
    const deadline = Math.min(start + timeoutMs, parent?.deadline ?? Number.POSITIVE_INFINITY);
    const request: ToolInvokeRequest = {
      toolCallId,
      toolName: name,
      arguments: argumentsText(name, args),
      sessionId: options.sessionId ?? null,
    };
    const same = isNew ? undefined : this.#out.get(toolCallId);
    if (same !== undefined && isSame(same, request, caller)) return join(same, { ...options, deadline });
    this.#checkMayStart(name, toolCallId, caller);
    const cancelled = new LightAbort();
    const signals = signalsOf(options);
    const stopListening = signals.length === 0 ? undefined : cancelWith(cancelled, signals, name);
    const acceptBlob = acceptsBlobs ? newCapability() : undefined;
    const answered = isNew ? undefined : journal.answered(toolCallId);
    const sentMsAgo = options.firstSentMsAgo ?? (isNew ? undefined : journal.unsureForMs(toolCallId));
    const maybeTakenSince = sentMsAgo === undefined ? undefined : start - sentMsAgo;
    const timeLeftMs = Math.max(0, deadline - start);
    const notes = this.#note(request, { ...options, isNew, caller, acceptBlob, timeoutMs: timeLeftMs });
    const out: OutgoingCall = {
      request,
      caller,
      cancelled,
      keepAnswer: options.keepAnswer === true,
      joined: undefined,
    };
    this.#out.set(toolCallId, out);
    this.#inFlight.add(1);
    try {
      const context = this.#contextOf(
        name,
        { signal: cancelled, deadline, caller, notes, acceptBlob, maybeTakenSince },
        options,
      );
      const noted = this.#noted(name, context, options);
      if (noted !== undefined) await noted;
      const response = await executor.execute(request, context);
      if (notes !== undefined) journal.gave(notes, textOf(response));
      notes?.note(CallState.Answered);
      if (out.keepAnswer && notes !== undefined) journal.keepAnswer(toolCallId, encodeReply(request, response).body);
      out.joined?.resolve(response);
      return response;
    } catch (error) {
      const toolError =
        maybeTakenSince === undefined ? toToolError(error, name) : orMayHaveRun(toToolError(error, name));
      if (notes !== undefined) journal.gave(notes, toolError.message, true);
      notes?.note(endOf(toolError), toolError.code, reasonOf(toolError));
      if (answered !== undefined) journal.goBack(answered);
      else if (out.keepAnswer && notes !== undefined) keepError(journal, request, toolError);
      out.joined?.reject(toolError);
      throw toolError;
    } finally {
      stopListening?.();
      this.#out.delete(toolCallId);
      this.#inFlight.add(-1);
      onEnded(toolCallId);
    }
  }

  /** Notes a call. Undefined for one that joins a call taken up: that one's end is the end. */
  #note(
    request: ToolInvokeRequest,
    options: CallOptions & {
      readonly isNew: boolean;
      readonly caller: string;
      readonly acceptBlob: string | undefined;
      readonly timeoutMs: number;
    },
  ): CallNotes | undefined {
    const { self, journal, isJournalKept, resumed } = this.#options;
    const { toolCallId, toolName } = request;
    const { isNew, caller, parent, timeoutMs, acceptBlob } = options;
    const led = ledTo(options);
    if (resumed.open(toolCallId) !== undefined) return undefined;
    return journal.asked({
      toolCallId,
      toolName,
      timeoutMs,
      args: request.arguments ?? "",
      isNew,
      onBehalfOf: caller === self ? undefined : caller,
      parent: parent?.toolCallId,
      session: options.sessionId,
      operator: led.operator,
      hasReadUntrusted: led.hasReadUntrusted,
      blob: acceptBlob,
      request: isNew ? undefined : hashRequest(request),
      sent: isJournalKept && (options.isSentAgain ?? parent === undefined) ? sentOf(request, options) : undefined,
    });
  }

  /** See ToolCaller.cancel. */
  cancel(toolCallId: string, by: string): boolean {
    const out = this.#out.get(toolCallId);
    const details = { mayHaveRun: true };
    out?.cancelled.abort(
      new ToolError(ToolErrorCode.Cancelled, `The call of "${out.request.toolName}" was cancelled by ${by}`, {
        details,
      }),
    );
    return out !== undefined;
  }

  /** Takes no more calls. @param reason what ends those that are out; without one they are left as they are */
  close(reason?: () => ToolError): void {
    this.#isClosed = true;
    if (reason !== undefined) for (const { cancelled } of this.#out.values()) cancelled.abort(reason());
  }

  #checkMayStart(name: string, toolCallId: string, caller: string): void {
    const { agent, self, maxCallsInFlight, resumed } = this.#options;
    const before = resumed.open(toolCallId);
    const isOthers = before !== undefined && (before.onBehalfOf ?? self) !== caller;
    if (this.#out.has(toolCallId) || isOthers) {
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `Cannot call "${name}" as "${toolCallId}": another call with this id is out already. Wait for its answer.`,
      );
    }
    if (this.#isClosed)
      throw new ToolError(ToolErrorCode.Unavailable, `Cannot call "${name}": this caller is closed`, {
        isRetryable: false,
      });
    if (this.#out.size >= maxCallsInFlight) {
      throw new ToolError(
        ToolErrorCode.Overloaded,
        `Cannot call "${name}" now: "${agent}" has ${this.#out.size} calls without an answer, the most it may have. Wait for one to end.`,
        { retryAfterMs: 1_000 },
      );
    }
  }

  #contextOf(
    name: string,
    facts: Pick<ToolContext, "acceptBlob" | "signal" | "deadline" | "caller" | "notes" | "maybeTakenSince">,
    options: CallOptions,
  ): ToolContext {
    const { policy, registry, log } = this.#options;
    const { parent, onProgress, onSent, keep, asksCaller } = options;
    const { caller, notes } = facts;
    const { hasReadUntrusted, ...led } = ledTo(options);
    const decision = policy === undefined ? undefined : decide(caller, policy, registry, name, hasReadUntrusted);
    const progress =
      onProgress === undefined ? ignoreProgress : noteFirst(onProgress, () => notes?.note(CallState.Running));
    const kept = { keep, asksCaller };
    const context = { ...facts, ...led, decision, progress, log, onSent, ...kept, checkCall: parent?.checkCall };
    return hasReadUntrusted
      ? { ...context, hasReadUntrusted, untrustedFrom: options.untrustedFrom ?? parent?.untrustedFrom }
      : context; // others pay nothing
  }

  /**
   * Waits until a journal that is kept has the call, where that matters.
   * @returns undefined if there is nothing to wait for
   */
  #noted(name: string, { notes, signal, deadline }: ToolContext, { durable }: CallOptions): Promise<void> | undefined {
    const { registry, journal, isJournalKept } = this.#options;
    if (!isJournalKept) {
      if (durable) throw notNoted(name);
      return undefined;
    }
    if (notes === undefined || !(durable ?? !isRepeatSafe(registry.get(name)))) return undefined;
    const late = () => timeoutError(`"${name}"`, { mayHaveRun: false });
    return inTime(journal.written(notes), { signal, leftMs: deadline - performance.now(), late }).then((isNoted) => {
      if (!isNoted && durable) throw notNoted(name);
    });
  }
}

/** What a call inherits of the one that makes it. */
const ledTo = ({ parent, hasReadUntrusted, grant, operator }: CallOptions) => ({
  depth: parent === undefined ? 0 : (parent.depth ?? 0) + 1,
  hasReadUntrusted: hasReadUntrusted === true || parent?.hasReadUntrusted === true,
  grant: grant ?? parent?.grant,
  operator: operator ?? parent?.operator,
});

/** What the journal keeps of a request, so that a process that takes the call up can send it. */
const sentOf = ({ arguments: args = null, sessionId = null }: ToolInvokeRequest, options: CallOptions) => ({
  arguments: args,
  sessionId,
  ...ledTo(options),
});

const refusals: ReadonlySet<string> = new Set([
  ToolErrorCode.Unavailable,
  ToolErrorCode.Overloaded,
  ToolErrorCode.RateLimited,
]);

/** The error of a call that was sent before: that it was refused this time says nothing of the time before. */
function orMayHaveRun(error: ToolError): ToolError {
  const { code, message, isRetryable, retryAfterMs, details } = error;
  if (details?.["mayHaveRun"] ?? !refusals.has(code)) return error;
  const words = `${message} The call was sent before, and may have been taken then.`;
  return new ToolError(code, words, {
    cause: error,
    isRetryable,
    retryAfterMs,
    details: { ...details, mayHaveRun: true },
  });
}

/**
 * A refusal of the arguments is no answer of the call that the id may stand for, of which only a process before may
 * have known.
 */
function keepError(journal: CallJournal, request: ToolInvokeRequest, error: ToolError): void {
  if (error.code === ToolErrorCode.Pending) return; // its end comes later
  const { body } = encodeReply(request, error);
  if (error.code === ToolErrorCode.InvalidArguments) journal.keepRefusal(request.toolCallId, body);
  else journal.keepAnswer(request.toolCallId, body);
}

const isSame = (
  { request, caller: of }: OutgoingCall,
  { toolName, arguments: args, sessionId }: ToolInvokeRequest,
  caller: string,
): boolean =>
  of === caller && request.toolName === toolName && request.arguments === args && request.sessionId === sessionId;

/**
 * Waits for the answer of a call that is out, for no longer than this asker wants. The call is its first asker's: that
 * one's end cancels it for all.
 */
async function join(
  call: OutgoingCall,
  options: CallOptions & { readonly deadline: number },
): Promise<ToolInvokeResponse> {
  const { toolName } = call.request;
  call.joined ??= Promise.withResolvers();
  call.joined.promise.catch(() => {}); // those who wait may all be gone
  call.keepAnswer ||= options.keepAnswer === true;
  options.onSent?.(); // it may be with a service, whatever becomes of this asker
  const left = new LightAbort();
  const stopListening = cancelWith(left, signalsOf(options), toolName);
  try {
    const late = () => timeoutError(`"${toolName}"`, { mayHaveRun: true });
    return await inTime(call.joined.promise, { signal: left, leftMs: options.deadline - performance.now(), late });
  } catch (error) {
    throw toToolError(error, toolName);
  } finally {
    stopListening();
  }
}

/** @throws {ToolError} */
function checkCall(name: string, toolCallId: string, timeoutMs: number): void {
  if (!Number.isFinite(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) {
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot call "${name}" with a timeout of ${timeoutMs} ms: expected 1 to ${MAX_TIMEOUT_MS}`,
    );
  }
  if (toolCallId.length < 1 || toolCallId.length > 128) {
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot call "${name}": the id of a call has 1 to 128 characters, this one has ${toolCallId.length}`,
    );
  }
}

/** This is unknown before a service announces the tool. */
const isRepeatSafe = (tool: ToolRegistration | undefined): boolean =>
  tool !== undefined && (tool.readOnly || tool.idempotent);

function notNoted(name: string): ToolError {
  return new ToolError(
    ToolErrorCode.Unavailable,
    `"${name}" was not called: the journal that is to have the call first cannot be written. Try again later.`,
    {
      details: { mayHaveRun: false },
    },
  );
}

/** The ways in which a call ends early, besides its caller's own end. */
function signalsOf({ signal, parent }: CallOptions): readonly AbortSource[] {
  if (signal === undefined) return parent === undefined ? NONE : [parent.signal];
  return parent === undefined ? [signal] : [signal, parent.signal];
}

const NONE: readonly AbortSource[] = [];

/** Cancels a call when one of the signals aborts, or at once if one has. @returns leaves the signals */
function cancelWith(call: LightAbort, signals: readonly AbortSource[], name: string): () => void {
  const details = { mayHaveRun: true };
  const leaves = signals.map((signal) =>
    onAbort(signal, () =>
      call.abort(
        new ToolError(ToolErrorCode.Cancelled, `The call of "${name}" was cancelled by its caller`, {
          cause: signal.reason,
          details,
        }),
      ),
    ),
  );
  return () => {
    for (const leave of leaves) leave();
  };
}

/** Calls `note` before the first update is passed on. */
function noteFirst(onProgress: (update: ProgressUpdate) => void, note: () => void): (update: ProgressUpdate) => void {
  let isFirst = true;
  return (update) => {
    if (isFirst) note();
    isFirst = false;
    onProgress(update);
  };
}
