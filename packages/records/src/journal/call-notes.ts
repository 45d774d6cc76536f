import { Header, isServedSteps, readServedSteps, type ServedSteps } from "@rockbot/contracts";
import { type CallRecord, CallState, type CallStep, isOpen, MAX_STEPS, type ServedStep } from "./call-record.ts";
import type { TextDigest } from "./kept-texts.ts";

/** A store that has notes of calls. */
export interface NotesKeeper {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Nothing is noted any more. */
  isClosed: boolean;
  changed(notes: CallNotes): void;
}

/** A step of a call, and those before it. */
interface NotedStep {
  readonly step: CallStep;
  /** Milliseconds since the call was made. */
  readonly after: number;
  readonly before: NotedStep | undefined;
}

const SERVED = ["admitted", "claimed", "started"] as const satisfies readonly CallStep[];
/** Among steps of one moment the first one here comes first. */
const ORDER: readonly CallStep[] = ["asked", "resumed", "accepted", "admitted", "claimed", "started", "running"];
const orderOf = (step: CallStep): number => (ORDER.includes(step) ? ORDER.indexOf(step) : ORDER.length);
const WORD = /^[a-z_]{1,40}$/;

/** Revisions are hashes, or words of an operator. */
const REVISION = /^[a-z0-9]{1,32}$/;

/**
 * The record of a call that goes on. It outlives the call, together with thousands of others, so it is small. Each note
 * is one more object, and only a reader makes lists of them.
 */
export class CallNotes {
  readonly #keeper: NotesKeeper;
  /** As it was when this began. */
  readonly #begun: Omit<CallRecord, "steps" | "sent">;
  /** Let go at the end. */
  #sent: CallRecord["sent"];
  /** Unix milliseconds. */
  readonly startedAt: number;
  #state: CallState;
  #code: string | undefined;
  #reason: string | undefined;
  #policy: string | undefined;
  #service: string | undefined;
  /** What the service tells, as it came, and when. */
  #told: string | undefined;
  #gave: TextDigest | undefined;
  #lane: CallRecord["lane"];
  #toldAfter = 0;
  #last: NotedStep | undefined;
  #count = 0;

  constructor(keeper: NotesKeeper, { sent, ...begun }: Omit<CallRecord, "steps">, steps: CallRecord["steps"] = []) {
    this.#keeper = keeper;
    this.#begun = begun;
    this.#sent = sent;
    this.#state = begun.state;
    this.#code = begun.code;
    this.#reason = begun.reason;
    this.#policy = begun.policy;
    this.#service = begun.service;
    this.#gave = begun.gave;
    this.#lane = begun.lane;
    this.startedAt = steps[0]?.at ?? keeper.now();
    for (const { step, at } of steps) this.#add(step, at);
  }

  get toolCallId(): string {
    return this.#begun.toolCallId;
  }

  get toolName(): string {
    return this.#begun.toolName;
  }

  /** Whose it is. */
  get speaker(): Pick<CallRecord, "caller" | "onBehalfOf" | "operator"> {
    return this.#begun;
  }

  get isOpen(): boolean {
    return isOpen({ state: this.#state });
  }

  /** As it stands now, without its steps, which cost most. */
  get head(): Omit<CallRecord, "steps" | "sent"> {
    return { ...this.#begun, state: this.#state, code: this.#code };
  }

  /** Notes a step. An end is final: of what comes later only a late answer is noted. */
  note(step: Exclude<CallStep, ServedStep>, code?: string, reason?: string): void {
    if (this.#keeper.isClosed || isOpen({ state: this.#state }) === (step === "late_answer")) return;
    if (step === CallState.Accepted && this.#state === CallState.Running) return; // its progress overtook the confirm
    this.#add(step, this.#keeper.now());
    if (step !== "resumed" && step !== "late_answer") this.#state = step;
    if (!isOpen({ state: this.#state })) this.#sent = undefined;
    if (code !== undefined) this.#code = code;
    if (reason !== undefined && WORD.test(reason)) this.#reason = reason;
    this.#keeper.changed(this);
  }

  /** Notes what the headers of an answer tell: the revision of the policy, and the steps. What has no form is not noted. */
  servedBy(service: string | undefined, headers: Readonly<Record<string, string>>): void {
    const { [Header.Policy]: revision, [Header.Steps]: steps } = headers;
    this.#service = service ?? this.#service;
    if (revision !== undefined && REVISION.test(revision)) this.#policy = revision;
    if (!isServedSteps(steps)) return;
    this.#told = steps;
    this.#toldAfter = this.#keeper.now() - this.startedAt;
  }

  /** Notes the lane that it is asked by. */
  wentBy(lane: CallRecord["lane"]): void {
    this.#lane = lane;
  }

  /** Notes what its result is like. */
  gave(result: TextDigest): void {
    this.#gave = result;
  }

  /** As it stands now. */
  get record(): CallRecord {
    const steps: { readonly step: CallStep; readonly at: number }[] = [];
    for (let noted = this.#last; noted !== undefined; noted = noted.before)
      steps.push({ step: noted.step, at: this.startedAt + noted.after });
    steps.reverse();
    const { layer, isRedelivered } = this.#told === undefined ? {} : this.#addTold(this.#told, steps);
    const policy = this.#policy === undefined ? {} : { policy: this.#policy };
    const code = this.#code === undefined ? {} : { code: this.#code };
    const { blob, ...begun } = this.#begun;
    const opens = blob !== undefined && isOpen({ state: this.#state }) ? { blob } : {};
    const sent = this.#sent === undefined ? {} : { sent: this.#sent };
    const service = this.#service === undefined ? {} : { service: this.#service };
    const reason = this.#reason === undefined ? {} : { reason: this.#reason };
    const at = layer === undefined ? {} : { layer };
    const again = isRedelivered ? { isRedelivered } : {};
    const gave = this.#gave === undefined ? {} : { gave: this.#gave };
    const lane = this.#lane === undefined ? {} : { lane: this.#lane };
    const end = { ...lane, ...policy, ...service, ...at, ...again, ...gave, ...code, ...reason };
    return { ...begun, ...opens, ...sent, state: this.#state, ...end, steps };
  }

  /** Adds what the service tells of its steps, each between the bus's confirm and the answer. */
  #addTold(text: string, steps: { readonly step: CallStep; readonly at: number }[]): ServedSteps {
    const told = readServedSteps(text);
    const end = this.startedAt + this.#toldAfter;
    const begin = Math.min(end, steps.find(({ step }) => step === CallState.Accepted)?.at ?? this.startedAt);
    for (const step of SERVED) {
      const before = told[step];
      if (before !== undefined) steps.push({ step, at: Math.max(begin, end - before) });
    }
    steps.sort((a, b) => a.at - b.at || orderOf(a.step) - orderOf(b.step));
    return told;
  }

  #add(step: CallStep, at: number): void {
    this.#last = { step, after: at - this.startedAt, before: this.#last };
    if (++this.#count > MAX_STEPS) this.#forgetSecond();
  }

  #forgetSecond(): void {
    const [first, , ...rest] = this.record.steps;
    this.#last = undefined;
    this.#count = 0;
    for (const noted of [first, ...rest]) if (noted !== undefined) this.#add(noted.step, noted.at);
  }
}
