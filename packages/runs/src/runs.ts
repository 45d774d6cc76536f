import type { KeyObject } from "node:crypto";
import { StoreUnavailableError } from "@rockbot/records";
import { judgeDecision } from "./decision.ts";
import type { Run, RunEnd, RunKey, SignedDecision } from "./run.ts";
import type { RunStore, StoredRun } from "./run-store.ts";
import { type RunEvent, transition, type Verdict } from "./transitions.ts";

/** How often a change that others are in the way of is tried. */
const ATTEMPTS = 32;

/** The changes of runs, each as the table of transitions allows it. Any number of processes may make them at once. */
export class Runs {
  readonly store: RunStore;

  constructor(store: RunStore) {
    this.store = store;
  }

  /**
   * Lets an event happen to a run.
   * @returns the run after it, or why it cannot happen, in words
   * @throws {StoreUnavailableError} if the store does not answer: the event may have happened
   */
  async change(key: RunKey, event: RunEvent): Promise<Run | string> {
    return this.#change(key, () => event);
  }

  /**
   * Notes a decision of an operator, and readies or ends the run if that decides it.
   * @param key the public half of that of the operators' door
   * @param rejected the end of a run that is rejected
   * @returns the run after it, or why the decision does not count, in words
   */
  async decide(
    run: RunKey,
    decision: SignedDecision,
    { key, rejected }: { readonly key: KeyObject; readonly rejected: (run: Run, note: string | undefined) => RunEnd },
  ): Promise<Run | string> {
    return this.#change(run, (stored) => {
      const judged = judgeDecision(stored.run, decision, key);
      if (typeof judged === "string") return judged;
      const verdict: Verdict =
        judged.decision.verdict === "reject"
          ? { is: "rejected", end: { ...rejected(stored.run, judged.decision.note), at: stored.now } }
          : { is: judged.isApproved ? "approved" : "partly" };
      return { kind: "decided", decision, verdict };
    });
  }

  async #change(key: RunKey, eventOf: (stored: StoredRun) => RunEvent | string): Promise<Run | string> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stored = await this.store.read(key);
      if (stored === undefined) return "there is no such run";
      const event = eventOf(stored);
      if (typeof event === "string") return event;
      const next = transition(stored.run, event, stored.now);
      if (typeof next === "string") return next;
      if (await this.store.replace(stored, next)) return next;
    }
    throw new StoreUnavailableError("Cannot change the run: others change it all the time");
  }
}
