import { OldestFirstMap } from "@rockbot/base";
import { type ClaimKey, MAX_UNSEEN_CANCELS, UNSEEN_CANCEL_KEPT_MS } from "../claim-store.ts";

/** The most callers: those that have cancelled nothing for longest are forgotten first. */
const MAX_CALLERS = 100;

/** The calls that were cancelled before anybody had taken them, of each caller the newest. */
export class UnseenCancels {
  /** When each id was cancelled, by caller; oldest first, both. */
  readonly #callers = new OldestFirstMap<string, OldestFirstMap<string, number>>();

  has({ caller, toolCallId }: ClaimKey, now: number): boolean {
    const at = this.#callers.get(caller)?.get(toolCallId);
    return at !== undefined && at + UNSEEN_CANCEL_KEPT_MS > now;
  }

  add({ caller, toolCallId }: ClaimKey, now: number): void {
    const ids = this.#callers.get(caller) ?? new OldestFirstMap();
    ids.set(toolCallId, now);
    ids.deleteOldestWhile((at) => ids.size > MAX_UNSEEN_CANCELS || at + UNSEEN_CANCEL_KEPT_MS <= now);
    this.#callers.set(caller, ids);
    this.#callers.deleteOldestWhile(() => this.#callers.size > MAX_CALLERS);
  }

  clear(): void {
    this.#callers.clear();
  }
}
