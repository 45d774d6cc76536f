type Dispose = () => unknown;

/** What the language has from Node 24 on. The build of the library puts it into the code that runs on Node 22, too. */
class OwnAsyncDisposableStack implements globalThis.AsyncDisposableStack {
  readonly [Symbol.toStringTag] = "AsyncDisposableStack";
  /** Undefined once they are given away or have run. */
  #disposals: Dispose[] | undefined = [];

  get disposed(): boolean {
    return this.#disposals === undefined;
  }

  use<T extends AsyncDisposable | Disposable | null | undefined>(value: T): T {
    const open = this.#open();
    if (value === null || value === undefined) return value;
    const dispose: unknown =
      (value as Partial<AsyncDisposable>)[Symbol.asyncDispose] ?? (value as Partial<Disposable>)[Symbol.dispose];
    if (typeof dispose !== "function") throw new TypeError("Cannot use a value that is not disposable");
    open.push(() => dispose.call(value));
    return value;
  }

  adopt<T>(value: T, onDisposeAsync: (value: T) => PromiseLike<void> | void): T {
    this.#open().push(() => onDisposeAsync(value));
    return value;
  }

  defer(onDisposeAsync: () => PromiseLike<void> | void): void {
    this.#open().push(onDisposeAsync);
  }

  move(): OwnAsyncDisposableStack {
    const moved = new OwnAsyncDisposableStack();
    moved.#disposals = this.#open();
    this.#disposals = undefined;
    return moved;
  }

  async disposeAsync(): Promise<void> {
    const disposals = this.#disposals ?? [];
    this.#disposals = undefined;
    let failure: { readonly error: unknown } | undefined;
    for (const dispose of disposals.reverse()) {
      try {
        await dispose();
      } catch (error) {
        failure = { error: failure === undefined ? error : suppressedError(error, failure.error) };
      }
    }
    if (failure !== undefined) throw failure.error;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }

  #open(): Dispose[] {
    if (this.#disposals === undefined) throw new ReferenceError("Cannot add to a stack that is disposed");
    return this.#disposals;
  }
}

function suppressedError(error: unknown, suppressed: unknown): Error {
  return Object.assign(new Error("An error was suppressed during disposal"), {
    name: "SuppressedError",
    error,
    suppressed,
  });
}

/** Node's own where it has one. The bundler puts it where the code names the global. @public */
export const AsyncDisposableStack: AsyncDisposableStackConstructor =
  globalThis.AsyncDisposableStack ?? OwnAsyncDisposableStack;

/** Exported for the test, which compares it with Node's own. */
export { OwnAsyncDisposableStack };
