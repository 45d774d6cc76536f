import { OldestFirstMap, ProblemCode, RecentMap, watchProblem } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import { CallNotes, type NotesKeeper } from "./call-notes.ts";
import {
  ANSWER_KEPT_MS,
  type CallRecord,
  CallState,
  MAX_AGE_MS,
  MAX_CALLS,
  MAX_SENT_CHARACTERS,
  shownRecord,
  stays,
} from "./call-record.ts";
import { type JournalStore, MAX_SLOTS, MAX_STORED_ANSWER_BYTES } from "./journal-store.ts";
import { digestOf, type KeepRule, KeptInMemory, type KeptTexts, withText } from "./kept-texts.ts";
import { ownerOf, startOf } from "./search-calls.ts";

/** Whose calls a journal keeps, where, and how many. */
export interface CallJournalOptions {
  /** The agent, or `agent.instance`. */
  readonly caller: string;
  /** Where a restarted caller finds the journal. @default it ends with this process */
  readonly store?: JournalStore | undefined;
  readonly log?: Logger | undefined;
  /** Unix milliseconds. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /** Says what is kept of calls of a tool, for operators. @default nothing, and texts have no hashes */
  readonly keep?: ((toolName: string) => KeepRule | undefined) | undefined;
  /** At least so many of the newest calls are remembered, at most twice as many. @default MAX_CALLS */
  readonly maxCalls?: number | undefined;
}

/** Answers in this process's memory, all together. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Records that go out in one command. */
const MAX_BATCH = 500;
/**
 * How long a note waits for more, unless somebody waits for it. Most calls end meanwhile, and take one record to the
 * store instead of three.
 */
const GATHER_MS = 50;
/** Notes that could not be written are tried again after this long, with those made meanwhile. */
const RETRY_MS = 1_000;

/** The ids that a search for inner calls goes by. */
const PLAIN = /^[!#-[\]-~]+$/;

/** A call that its caller asks for. */
export interface AskedCall
  extends Pick<
    CallRecord,
    | "toolCallId"
    | "toolName"
    | "onBehalfOf"
    | "operator"
    | "hasReadUntrusted"
    | "parent"
    | "session"
    | "blob"
    | "request"
    | "sent"
  > {
  readonly timeoutMs: number;
  /** The arguments' text. */
  readonly args?: string | undefined;
  /** No call had its id before, so that none is looked for. @default false */
  readonly isNew?: boolean | undefined;
}

/** A call whose notes somebody waits for. */
interface Awaited {
  readonly call: CallNotes;
  /** Told whether the store has them. */
  readonly tell: (isWritten: boolean) => void;
}

/**
 * One caller's memory of its calls. A note takes no time, because the store gets it within 50 ms, and at once if
 * somebody waits for it. While the store is away the journal lives in this process. It is written when the store is
 * back.
 */
export class CallJournal implements AsyncDisposable {
  readonly #calls: RecentMap<string, CallNotes>;
  readonly #unwritten = new OldestFirstMap<string, CallNotes>();
  readonly #keeper: NotesKeeper;
  readonly #answers = new OldestFirstMap<string, { readonly bytes: Uint8Array; readonly at: number }>();
  readonly #store: JournalStore | undefined;
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #maxCalls: number;
  readonly #keep: CallJournalOptions["keep"];
  readonly #kept: KeptInMemory;
  #caller: string;
  #answerBytes = 0;
  /** True once the unwritten notes have waited for more, so that they go out with the next command. */
  #isGathered = false;
  #gathering: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isFailing = false;
  readonly #watched = watchProblem(ProblemCode.JournalUnwritten, () => this.#isFailing);
  readonly #awaited: Awaited[] = [];

  constructor({ caller, store, log = silentLogger, clock = Date.now, keep, maxCalls = MAX_CALLS }: CallJournalOptions) {
    this.#keep = keep;
    this.#kept = new KeptInMemory(clock);
    this.#caller = caller;
    this.#store = store;
    this.#log = log;
    this.#clock = clock;
    this.#maxCalls = maxCalls;
    this.#calls = new RecentMap(maxCalls, { ownerOf: ({ speaker }) => ownerOf(speaker) });
    this.#keeper = {
      now: clock,
      isClosed: false,
      changed: (call) => {
        if (store === undefined) return;
        this.#keepUnwritten(call);
        this.#gather();
      },
    };
  }

  /** From now on the caller has another name: what is noted goes there. */
  moveTo(caller: string): void {
    this.#caller = caller;
  }

  /** Notes a call, and what is said of it; one whose id is known goes on under it. */
  asked(call: AskedCall): CallNotes {
    const { toolCallId, toolName, timeoutMs, onBehalfOf, parent, session } = call;
    const { blob, request, sent, args, isNew = false } = call;
    const { operator, hasReadUntrusted } = call;
    const before = isNew ? undefined : this.#calls.get(toolCallId)?.record;
    const attempts = (before?.attempts ?? 0) + 1;
    const deadlineAt = this.#clock() + timeoutMs;
    const speaker = this.#speaker({ caller: this.#caller, onBehalfOf, operator });
    const given = args === undefined ? {} : { given: digestOf(args, speaker) };
    const begun = {
      toolCallId,
      toolName,
      caller: this.#caller,
      onBehalfOf,
      state: CallState.Asked,
      attempts,
      deadlineAt,
      ...(parent === undefined || !PLAIN.test(parent) ? {} : { parent }),
      ...(session === undefined ? {} : { session }),
      ...(operator === undefined ? {} : { operator }),
      ...(hasReadUntrusted === true ? { hasReadUntrusted } : {}),
      ...(blob === undefined ? {} : { blob }),
      ...(request === undefined ? {} : { request }),
      ...(sent === undefined || (sent.arguments ?? "").length > MAX_SENT_CHARACTERS ? {} : { sent }),
    };
    const notes = new CallNotes(this.#keeper, { ...begun, ...given }, before?.steps);
    if (args !== undefined) this.#keepText(notes, "arguments", args);
    return this.#begin(notes, CallState.Asked);
  }

  /** Keeps what a call gave, if that is kept of its tool: the result's text, or the words of its error. Before its end is noted. */
  gave(notes: CallNotes, text: string, isError = false): void {
    if (!isError) notes.gave(digestOf(text, this.#speaker(notes.speaker)));
    this.#keepText(notes, "result", text);
  }

  /** Names who chose the texts of a call, or nobody if texts have no hashes. */
  #speaker({ operator, ...call }: Pick<CallRecord, "caller" | "onBehalfOf" | "operator">): string | undefined {
    return this.#keep === undefined ? undefined : JSON.stringify([ownerOf(call), operator]);
  }

  #keepText(notes: CallNotes, name: "arguments" | "result", text: string): void {
    const rule = this.#keep?.(notes.toolName);
    if (rule === undefined || this.#keeper.isClosed) return;
    const { toolCallId } = notes;
    const until = this.#clock() + rule.forMs;
    const texts = withText(this.#kept.get(toolCallId), name, text, { bytes: rule.bytes, until });
    this.#kept.set(toolCallId, ownerOf(notes.speaker), texts);
  }

  /** The texts of a caller's call that this journal has itself. */
  keptHere(caller: string, toolCallId: string): KeptTexts | undefined {
    return this.#calls.get(toolCallId)?.speaker.caller === caller ? this.#kept.get(toolCallId) : undefined;
  }

  /** Takes over a call that an earlier process of this caller had out. */
  resumed({ steps, ...begun }: CallRecord): CallNotes {
    return this.#begin(new CallNotes(this.#keeper, begun, steps), "resumed");
  }

  /** The call that has this id and was answered. What a later attempt ends in does not change that: see `goBack`. */
  answered(toolCallId: string): CallNotes | undefined {
    const call = this.#calls.get(toolCallId);
    return call?.record.state === CallState.Answered ? call : undefined;
  }

  /** How long ago a call was made under this id that may have run, as far as is known; undefined if there was none. */
  unsureForMs(toolCallId: string): number | undefined {
    const call = this.#calls.get(toolCallId);
    const isUnsure = call !== undefined && unsure.has(call.record.state);
    return isUnsure ? Math.max(0, this.#clock() - call.startedAt) : undefined;
  }

  /** Forgets a later attempt that was refused, or ended in another error: the call stands as it was answered. */
  goBack(answered: CallNotes): void {
    if (this.#keeper.isClosed) return;
    this.#calls.set(answered.toolCallId, answered);
    this.#keeper.changed(answered);
  }

  /** An answer has come that no call waits for. */
  answeredLate(toolCallId: string): void {
    this.#calls.get(toolCallId)?.note("late_answer");
  }

  #begin(call: CallNotes, step: typeof CallState.Asked | "resumed"): CallNotes {
    this.#calls.set(call.toolCallId, call);
    call.note(step);
    return call;
  }

  /**
   * Tells whether the store has the notes of a call by now, once it has said so or cannot. The answer comes at once if
   * the store has failed lately.
   */
  written(call: CallNotes): Promise<boolean> {
    if (this.#store === undefined || this.#isFailing || this.#keeper.isClosed) return Promise.resolve(false);
    return new Promise((tell) => {
      this.#awaited.push({ call, tell });
      this.#schedule();
    });
  }

  /**
   * Keeps a refusal as an answer, unless there is one: it says nothing of the call that the id may stand for already.
   */
  keepRefusal(toolCallId: string, bytes: Uint8Array): void {
    if (this.#keeper.isClosed) return;
    if (this.#store === undefined) {
      if (!this.#answers.has(toolCallId)) this.keepAnswer(toolCallId, bytes);
    } else this.#storeAnswer(toolCallId, bytes, true);
  }

  /** Keeps an answer for ANSWER_KEPT_MS, here and, unless it is too large, in the store. */
  keepAnswer(toolCallId: string, bytes: Uint8Array): void {
    if (this.#keeper.isClosed) return;
    this.#dropAnswer(toolCallId);
    this.#answers.set(toolCallId, { bytes, at: this.#clock() });
    this.#answerBytes += bytes.byteLength;
    const isOver = ({ at }: { readonly at: number }) =>
      this.#answerBytes > MAX_ANSWER_BYTES || at <= this.#clock() - ANSWER_KEPT_MS;
    for (let { oldest } = this.#answers; oldest !== undefined && isOver(oldest.value); { oldest } = this.#answers)
      this.#dropAnswer(oldest.key);
    if (bytes.byteLength <= MAX_STORED_ANSWER_BYTES) this.#storeAnswer(toolCallId, bytes, false);
  }

  #storeAnswer(toolCallId: string, bytes: Uint8Array, isFirst: boolean): void {
    const onBehalfOf = this.#calls.get(toolCallId)?.record.onBehalfOf;
    this.#store
      ?.writeAnswer(this.#caller, toolCallId, bytes, { isFirst, onBehalfOf })
      .catch((error: unknown) => this.#failed(error));
  }

  /** The answer, if it is kept. */
  async answer(toolCallId: string): Promise<Uint8Array | undefined> {
    const kept = this.#answers.get(toolCallId);
    if (kept !== undefined && kept.at > this.#clock() - ANSWER_KEPT_MS) return kept.bytes;
    return (await this.#ofAll((store, caller) => store.readAnswer(caller, toolCallId))).find(
      (bytes) => bytes !== undefined,
    );
  }

  /** One call, also of an earlier process or of another instance of the agent. */
  async find(toolCallId: string): Promise<CallRecord | undefined> {
    const call = this.#calls.get(toolCallId);
    const here = call === undefined || this.#isOver(call) ? undefined : call.record;
    // A process before may have had the call that the id stands for.
    const isSure = here !== undefined && (here.request === undefined || here.state === CallState.Answered);
    const stored = isSure
      ? undefined
      : (await this.#ofAll((store, caller) => store.read(caller, toolCallId))).reduce(furtherOf, undefined);
    const record = here === undefined || (stored !== undefined && stays(stored, here)) ? stored : here;
    return record === undefined ? undefined : shownRecord(record);
  }

  /**
   * The newest calls first, those of earlier processes and of the agent's other instances too as long as the store
   * answers.
   */
  async recent(limit: number): Promise<readonly CallRecord[]> {
    const stored = new Map<string, CallRecord>();
    for (const record of (await this.#ofAll((store, caller) => store.readRecent(caller, limit))).flatMap(
      (records) => records ?? [],
    ))
      stored.set(record.toolCallId, furtherOf(stored.get(record.toolCallId), record) ?? record);
    const here = this.here.slice(0, limit).map(({ record }) => {
      const kept = stored.get(record.toolCallId);
      return kept !== undefined && stays(kept, record) ? kept : record;
    });
    const earlier = [...stored.values()].filter(({ toolCallId }) => !this.#calls.has(toolCallId));
    return [...here, ...earlier]
      .sort((a, b) => startOf(b) - startOf(a))
      .slice(0, limit)
      .map(shownRecord);
  }

  /** What this process knows of the last day, the newest first. */
  get here(): readonly CallNotes[] {
    return this.#calls.newestFirst().filter((call) => !this.#isOver(call));
  }

  /** Where this journal and those of others are kept. */
  get shared(): Pick<JournalStore, "search" | "readKept"> | undefined {
    return this.#store;
  }

  /** Writes what is noted and not written yet; gives up if the store does not take it. Nothing is noted afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#keeper.isClosed = true;
    this.#watched[Symbol.dispose]();
    clearTimeout(this.#retry);
    clearTimeout(this.#gathering);
    this.#kept.close();
    await this.#writing;
    this.#isGathered = true;
    while (this.#unwritten.size > 0) if (!(await this.#write())) break;
    tellAll(this.#awaited.splice(0), false);
  }

  /**
   * Reads from the journals of all instances of the agent in the store, its own first. What cannot be read is
   * undefined.
   */
  async #ofAll<Read>(read: (store: JournalStore, caller: string) => Promise<Read>): Promise<(Read | undefined)[]> {
    const store = this.#store;
    if (store === undefined) return [];
    const [agent = ""] = this.#caller.split(".", 1);
    const callers = await store.readCallers().catch(() => []);
    const others = callers.filter(
      (caller) => caller !== this.#caller && (caller === agent || caller.startsWith(`${agent}.`)),
    );
    return Promise.all(
      [this.#caller, ...others.slice(0, MAX_SLOTS)].map((caller) => read(store, caller).catch(() => undefined)),
    );
  }

  #keepUnwritten(call: CallNotes): void {
    this.#unwritten.set(call.toolCallId, call);
    this.#unwritten.deleteOldestWhile(() => this.#unwritten.size > this.#maxCalls);
  }

  #isOver({ startedAt }: CallNotes): boolean {
    return startedAt <= this.#clock() - MAX_AGE_MS;
  }

  #dropAnswer(toolCallId: string): void {
    this.#answerBytes -= this.#answers.get(toolCallId)?.bytes.byteLength ?? 0;
    this.#answers.delete(toolCallId);
  }

  #gather(): void {
    if (this.#isGathered || this.#isFailing || this.#keeper.isClosed) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#isGathered = true;
      this.#schedule();
    }, GATHER_MS);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isFailing || this.#keeper.isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#writing ??= this.#writeAll().finally(() => {
        this.#writing = undefined;
      });
    });
  }

  /** One command at a time, so that under load each carries what was noted during the one before. */
  async #writeAll(): Promise<void> {
    let isOk = true;
    while (isOk && (this.#awaited.length > 0 || this.#isGathered) && !this.#keeper.isClosed) isOk = await this.#write();
    if (isOk || this.#keeper.isClosed) return;
    this.#isFailing = true;
    this.#retry = setTimeout(() => {
      this.#isFailing = false;
      this.#isGathered = true;
      this.#schedule();
    }, RETRY_MS).unref();
  }

  /** @returns whether the store has taken it */
  async #write(): Promise<boolean> {
    const awaited = this.#awaited.splice(0, MAX_BATCH);
    const ahead: CallNotes[] = [];
    const batch = new Set<CallNotes>();
    for (const { call } of awaited) {
      const latest = this.#calls.get(call.toolCallId) ?? call;
      if (!latest.isOpen) batch.add(latest);
      else if (this.#unwritten.get(call.toolCallId) !== undefined) ahead.push(latest); // its record follows, with the others
    }
    for (const { toolCallId } of batch) this.#unwritten.delete(toolCallId);
    while (this.#isGathered && batch.size < MAX_BATCH) {
      const { oldest } = this.#unwritten;
      if (oldest === undefined) this.#isGathered = false;
      else {
        batch.add(oldest.value);
        this.#unwritten.delete(oldest.key);
      }
    }
    const calls = [...batch];
    const early = ahead.filter((call) => !batch.has(call));
    const kept = new Map<string, KeptTexts>();
    for (const { toolCallId } of calls) {
      const texts = this.#kept.takeNew(toolCallId);
      if (texts !== undefined) kept.set(toolCallId, texts);
    }
    try {
      await Promise.all([
        early.length > 0 ? this.#store?.noteAhead(this.#caller, early.map(recordOf)) : undefined,
        calls.length > 0 ? this.#store?.write(this.#caller, calls.map(recordOf), kept) : undefined,
      ]);
      for (const call of calls) if (!call.isOpen) this.#kept.delete(call.toolCallId);
      tellAll(awaited, true);
      return true;
    } catch (error) {
      for (const call of calls) if (this.#calls.get(call.toolCallId) === call) this.#keepUnwritten(call);
      for (const { toolCallId, speaker } of calls) {
        const texts = kept.get(toolCallId);
        if (texts !== undefined) this.#kept.set(toolCallId, ownerOf(speaker), texts);
      }
      this.#failed(error);
      tellAll([...awaited, ...this.#awaited.splice(0)], false);
      return false;
    }
  }

  #failed(error: unknown): void {
    this.#log.debug({ caller: this.#caller, error: String(error) }, "could not write the journal of calls");
  }
}

const recordOf = ({ record }: CallNotes): CallRecord => record;

function tellAll(awaited: readonly Awaited[], isWritten: boolean): void {
  for (const { tell } of awaited) tell(isWritten);
}

/** Chooses the record with the answer from two of one id, else the later one. */
function furtherOf(one: CallRecord | undefined, other: CallRecord | undefined): CallRecord | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const isAnswered = (record: CallRecord): boolean => record.state === CallState.Answered;
  if (isAnswered(one) !== isAnswered(other)) return isAnswered(one) ? one : other;
  return startOf(other) > startOf(one) ? other : one;
}

/** States of calls that have no answer, and may have one. */
const unsure: ReadonlySet<CallState> = new Set([CallState.Cancelled, CallState.TimedOut, CallState.Unknown]);
