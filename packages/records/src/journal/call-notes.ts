import { type CallRecord, CallState, type CallStep, isOpen, MAX_STEPS } from "./call-record.ts";

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
  #policy: string | undefined;
  #last: NotedStep | undefined;
  #count = 0;

  constructor(keeper: NotesKeeper, { sent, ...begun }: Omit<CallRecord, "steps">, steps: CallRecord["steps"] = []) {
    this.#keeper = keeper;
    this.#begun = begun;
    this.#sent = sent;
    this.#state = begun.state;
    this.#code = begun.code;
    this.#policy = begun.policy;
    this.startedAt = steps[0]?.at ?? keeper.now();
    for (const { step, at } of steps) this.#add(step, at);
  }

  get toolCallId(): string {
    return this.#begun.toolCallId;
  }

  /** As it stands now, without its steps, which cost most. */
  get head(): Omit<CallRecord, "steps" | "sent"> {
    return { ...this.#begun, state: this.#state, code: this.#code };
  }

  /** Notes a step. An end is final: of what comes later only a late answer is noted. */
  note(step: CallStep, code?: string): void {
    if (this.#keeper.isClosed || isOpen({ state: this.#state }) === (step === "late_answer")) return;
    if (step === CallState.Accepted && this.#state === CallState.Running) return; // its progress overtook the confirm
    this.#add(step, this.#keeper.now());
    if (step !== "resumed" && step !== "late_answer") this.#state = step;
    if (!isOpen({ state: this.#state })) this.#sent = undefined;
    if (code !== undefined) this.#code = code;
    this.#keeper.changed(this);
  }

  /** Notes which revision of a policy decided the call; what cannot be one is not noted. */
  decidedBy(revision: string | undefined): void {
    if (revision !== undefined && REVISION.test(revision)) this.#policy = revision;
  }

  /** As it stands now. */
  get record(): CallRecord {
    const steps: { readonly step: CallStep; readonly at: number }[] = [];
    for (let noted = this.#last; noted !== undefined; noted = noted.before)
      steps.push({ step: noted.step, at: this.startedAt + noted.after });
    const policy = this.#policy === undefined ? {} : { policy: this.#policy };
    const code = this.#code === undefined ? {} : { code: this.#code };
    const { blob, ...begun } = this.#begun;
    const opens = blob !== undefined && isOpen({ state: this.#state }) ? { blob } : {};
    const sent = this.#sent === undefined ? {} : { sent: this.#sent };
    return { ...begun, ...opens, ...sent, state: this.#state, ...policy, ...code, steps: steps.reverse() };
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
