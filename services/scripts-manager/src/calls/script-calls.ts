import { createHash } from "node:crypto";
import { createSemaphore } from "@rockbot/base";
import { type ContentTrust, Keep, marks, ToolError, ToolErrorCode, type ToolInvokeResponse } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { ScriptMessages, ScriptPort } from "@rockbot/sandbox";
import type { ResumableCallContext, ToolCaller, ToolRegistration } from "@rockbot/tools";
import { differs, noMoreCalls, notRecorded, tooManyCalls } from "./script-call-errors.ts";
import type { CallEnd, ScriptCall, ScriptRecord } from "./script-record.ts";

export interface ScriptCallsOptions {
  readonly caller: Pick<ToolCaller, "call">;
  /** The call of the script. */
  readonly context: ResumableCallContext;
  readonly record: ScriptRecord;
  /** The tools that the script may call. */
  readonly tools: readonly ToolRegistration[];
  readonly maxCalls: number;
  /** The bound of all answers together. */
  readonly maxAnswerBytes: number;
  /** Where untrusted content was read before. @default none was */
  readonly trust?: ContentTrust | undefined;
  /** What the script gets for a call that waits for people. @default the script ends, and is run again */
  readonly insteadOfWaiting?: ((call: ScriptCall) => Promise<CallEnd>) | undefined;
}

/** How many calls of a script run at once. */
const AT_ONCE = 16;
/** A script of ours has fewer calls out; what has more is none. */
const MOST_OUT = 100;
/** After so many calls too many, the script is ended. */
const REFUSALS = 100;
/** A call ends so long before the script's own time does, so that the script can end by itself, or wait. */
const BEFORE_END_MS = 500;
const PATH = /^[A-Za-z0-9_]{0,140}(\.?[0-9]{1,9}){1,2}$/;

/** The calls of one script while it runs: each is made as a call of the script's call, recorded, and answered. */
export class ScriptCalls implements Pick<ScriptMessages, "onMessage"> {
  readonly #options: ScriptCallsOptions;
  readonly #turns = createSemaphore(AT_ONCE);
  readonly #paths = new Set<string>();
  readonly #over = new AbortController();
  readonly #ended = new AbortController();
  #out = 0;
  #answerBytes = 0;
  #trust: ContentTrust | undefined;

  constructor(options: ScriptCallsOptions) {
    this.#options = options;
    this.#trust = options.trust;
    const { signal } = options.context;
    // A process that stops leaves the calls to the next one: only what ends the script's call ends them.
    const cancel = (): void => {
      if (signal.reason instanceof ToolError) this.#ended.abort(signal.reason);
    };
    signal.addEventListener("abort", cancel, { once: true, signal: this.#over.signal });
  }

  /** Aborts once the script must end: with a ToolError, `pending` if one of its calls waits for people. */
  get stopped(): AbortSignal {
    return this.#over.signal;
  }

  /** Where untrusted content was read, if any was. */
  get trust(): ContentTrust | undefined {
    return this.#trust;
  }

  /** Cancels what is still out, as the script is over. */
  end(): void {
    this.#ended.abort(
      new ToolError(ToolErrorCode.Cancelled, "The call was cancelled: the script that made it is over"),
    );
  }

  onMessage(message: Buffer, port: ScriptPort): void {
    const { id, ...call } = readCall(message);
    if (this.#paths.has(call.path) || this.#out >= MOST_OUT) throw malformed("calls that its module would not make");
    this.#paths.add(call.path);
    const { maxCalls } = this.#options;
    if (this.#paths.size > maxCalls + REFUSALS) throw noMoreCalls(maxCalls);
    this.#out++;
    void this.#answer(call, port)
      .catch((error: unknown) => this.#stop(error))
      .then((end) => (end === undefined ? undefined : port.send(Buffer.from(answerText(id, end)))))
      .finally(() => this.#out--);
  }

  /** @returns undefined if the script is to hear nothing any more */
  async #answer(call: ScriptCall, port: ScriptPort): Promise<CallEnd | undefined> {
    const { record, tools, maxCalls } = this.#options;
    if (this.#paths.size > maxCalls) return tooManyCalls(maxCalls);
    const tool = tools.find(({ name }) => name === call.tool);
    const known = await record.look(call);
    if (known.kind === "other") throw differs(call, known.tool, record.effects());
    if (known.kind === "ended") return this.#handed(known.end);
    if (tool === undefined) return notOffered(call.tool);
    if (known.kind === "new") await record.caughtUp;
    using _turn = await this.#turns.acquire();
    if (this.#over.signal.aborted) return undefined;
    const hasEffects = !tool.readOnly;
    // Made again, it carries no more and no less than it did first.
    const asked: ScriptCall = { ...call, after: known.kind === "asked" ? known.after : this.#trust };
    if (known.kind === "new" && hasEffects && !(await record.asked(asked, true))) return this.#stop(elsewhere());
    const sinceMs = known.kind === "asked" ? known.sinceMs : undefined;
    const end = await this.make(asked, Math.max(1, port.leftMs() - BEFORE_END_MS), sinceMs);
    if (end instanceof ToolError && end.code === ToolErrorCode.Pending) {
      if (this.#options.insteadOfWaiting !== undefined) return await this.#options.insteadOfWaiting(asked);
      await record.waits(asked, hasEffects);
      return this.#stop(end);
    }
    if (this.#ended.signal.aborted) return undefined;
    if (!(await record.ended(asked, hasEffects, end))) return this.#stop(elsewhere());
    return this.#handed(end);
  }

  /** Makes a call, or joins it where it was made before. Never rejects. */
  async make({ path, tool, args, after }: ScriptCall, timeoutMs: number, firstSentMsAgo?: number): Promise<CallEnd> {
    const { caller, context } = this.#options;
    try {
      return await caller.call(tool, args, {
        toolCallId: childId(context.toolCallId, path),
        parent: { ...context, signal: this.#ended.signal },
        onBehalfOf: context.caller,
        sessionId: context.sessionId,
        hasReadUntrusted: after !== undefined,
        untrustedFrom: after?.origin,
        keep: Keep.IfParked,
        timeoutMs,
        firstSentMsAgo,
      });
    } catch (error) {
      if (error instanceof ToolError) return error;
      return new ToolError(ToolErrorCode.ExecutionFailed, `"${tool}" could not be called: ${String(error)}`);
    }
  }

  #handed(end: CallEnd): CallEnd {
    if (this.#trust === undefined && marks(end.trust)) this.#trust = end.trust;
    this.#answerBytes += sizeOf(end);
    const { maxAnswerBytes } = this.#options;
    if (this.#answerBytes <= maxAnswerBytes) return end;
    return new ToolError(
      ToolErrorCode.TooLarge,
      `The answer was not handed on: a script gets at most ${maxAnswerBytes} bytes of answers in all. Ask for less.`,
      { details: { reason: "script_answers" } },
    );
  }

  #stop(error: unknown): undefined {
    const { record } = this.#options;
    const reason =
      error instanceof StoreUnavailableError
        ? notRecorded(error, record.effects())
        : error instanceof ToolError
          ? error
          : new ToolError(ToolErrorCode.ExecutionFailed, `The script was ended: ${String(error)}`);
    this.#over.abort(reason);
    return undefined;
  }
}

/** The id of a script's call: the same whenever the script is run for its call. */
export const childId = (toolCallId: string, path: string): string =>
  createHash("sha256").update(`script ${toolCallId} ${path}`).digest("hex").slice(0, 32);

function readCall(message: Buffer): ScriptCall & { readonly id: number } {
  try {
    const { id, path, tool, arguments: args } = JSON.parse(message.toString()) as Record<string, unknown>;
    if (
      Number.isSafeInteger(id) &&
      typeof path === "string" &&
      PATH.test(path) &&
      typeof tool === "string" &&
      tool.length <= 256 &&
      typeof args === "object" &&
      args !== null &&
      !Array.isArray(args)
    )
      return { id: id as number, path, tool, args: args as ScriptCall["args"] };
  } catch {} // what is no JSON is no call
  throw malformed("a message that is no call");
}

function answerText(id: number, end: CallEnd): string {
  if (end instanceof ToolError)
    return JSON.stringify({ id, error: { code: end.code, message: end.message, details: end.details } });
  if (end.isError === true) return JSON.stringify({ id, error: { code: "failed", message: end.content ?? "" } });
  const { structured, content = null } = end;
  return JSON.stringify(structured == null ? { id, value: content } : { id, value: structured, text: content ?? "" });
}

const sizeOf = (end: CallEnd): number =>
  end instanceof ToolError ? end.message.length : (end.content?.length ?? 0) + structuredSize(end);

const structuredSize = ({ structured }: ToolInvokeResponse): number =>
  structured === undefined ? 0 : Buffer.byteLength(JSON.stringify(structured));

const notOffered = (tool: string): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    `A script may not call "${tool}" here. dir(tools) names those that it may call.`,
    {
      details: { reason: "script_tools", mayHaveRun: false },
    },
  );

const malformed = (what: string): ToolError =>
  new ToolError(
    ToolErrorCode.ExecutionFailed,
    `The script was ended: it sent ${what}. Only the functions of the module rockbot may use the channel.`,
    { details: { reason: "script_messages" } },
  );

const elsewhere = (): ToolError =>
  new ToolError(ToolErrorCode.OutcomeUnknown, "The script was ended here: another process runs it by now", {
    details: { reason: "script_taken_over", mayHaveRun: true },
  });
