import type { CallOptions } from "@rockbot/tools";
import type { StoredResult } from "../store/turn-store.ts";

/** Remembers whether a turn has read untrusted content, and where from first. Once it has, it stays so. */
export class UntrustedMark {
  #isSet: boolean;
  #from: string | undefined;

  constructor(isSet: boolean) {
    this.#isSet = isSet;
  }

  get isSet(): boolean {
    return this.#isSet;
  }

  /** The mark as calls carry it. */
  get forCalls(): Pick<CallOptions, "hasReadUntrusted" | "untrustedFrom"> {
    if (!this.#isSet) return {};
    return { hasReadUntrusted: true, ...(this.#from === undefined ? {} : { untrustedFrom: this.#from }) };
  }

  /** Notes what a model reads. What an operator has approved is fenced, and marks nothing. */
  read({ isUntrusted, isApproved = false, origin }: Pick<StoredResult, "isUntrusted" | "isApproved" | "origin">): void {
    if (isUntrusted && !isApproved) this.set(origin);
  }

  set(from: string | undefined): void {
    this.#isSet = true;
    this.#from ??= from;
  }
}
