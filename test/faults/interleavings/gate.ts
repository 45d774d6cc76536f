/** Holds operations back until somebody lets them through, one by one. */
export class Gate {
  readonly #held = new Map<number, { readonly name: string; open(): void; fail(error: Error): void }>();
  #next = 0;
  #closed: Error | undefined;

  /** Runs `work` once it is let through. */
  pass<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#held.set(this.#next++, { name, open: resolve, fail: reject });
    return promise.then(work);
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  get held(): readonly { readonly name: string; open(): void; fail(error: Error): void }[] {
    return [...this.#held].map(([number, { name, open, fail }]) => ({
      name,
      open: () => {
        this.#held.delete(number);
        open();
      },
      fail: (error) => {
        this.#held.delete(number);
        fail(error);
      },
    }));
  }

  /** Fails what is held, and what comes. */
  close(reason: Error): void {
    this.#closed = reason;
    for (const { fail } of this.#held.values()) fail(reason);
    this.#held.clear();
  }
}
