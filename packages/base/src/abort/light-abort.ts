/** The part of an AbortSignal that a wait needs. Every AbortSignal is one. */
export interface AbortSource {
  readonly aborted: boolean;
  /** Why, once it has aborted. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Calls `listener` once when the source aborts, or now if it has. @returns leaves the source */
export function onAbort(source: AbortSource, listener: () => void): () => void {
  if (source.aborted) listener();
  else source.addEventListener("abort", listener, { once: true });
  return () => source.removeEventListener("abort", listener);
}

/**
 * An AbortController and its signal in one, for work that starts and ends by the thousand. A listener on an AbortSignal
 * costs as much as the encoding of a small message. The table of its listeners also lives as long as the signal.
 */
export class LightAbort implements AbortSource {
  #listeners: (() => void)[] | undefined;
  #isAborted = false;
  #reason: unknown;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  /** Calls `listener` when it aborts; not if it has. A listener must not throw. */
  addEventListener(_type: "abort", listener: () => void): void {
    if (this.#isAborted) return;
    if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index !== -1) this.#listeners?.splice(index, 1);
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    for (let next = this.#listeners?.shift(); next !== undefined; next = this.#listeners?.shift()) next(); // one may take another away
  }
}
