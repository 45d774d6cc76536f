import { startLoop } from "@rockbot/base";

/** One who follows a text: gets the newest each time, and never one twice. */
export interface Viewer extends Disposable {
  /** @returns undefined if nothing new has come in this time, or the signal has aborted */
  next(ms: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/** A text that is made anew again and again while somebody looks, once for all who do. */
export class LatestText<Env> {
  readonly #everyMs: number;
  readonly #make: (env: Env) => Promise<string>;
  readonly #viewers = new Set<object>();
  readonly #waiting = new Set<() => void>();
  #latest: { readonly bytes: Uint8Array } | undefined;
  #making: AsyncDisposable | undefined;

  constructor(everyMs: number, make: (env: Env) => Promise<string>) {
    this.#everyMs = everyMs;
    this.#make = make;
  }

  /** @param env for the first of those who look: all may see the same */
  follow(env: Env): Viewer {
    const viewer = {};
    this.#viewers.add(viewer);
    this.#making ??= startLoop(this.#everyMs, () => this.#makeOne(env));
    let had: object | undefined;
    return {
      next: async (ms, signal) => {
        if (this.#latest === had) await this.#change(ms, signal);
        if (this.#latest === had || signal.aborted) return undefined;
        had = this.#latest;
        return this.#latest?.bytes;
      },
      [Symbol.dispose]: () => {
        this.#viewers.delete(viewer);
        if (this.#viewers.size > 0) return;
        void this.#making?.[Symbol.asyncDispose]();
        this.#making = undefined;
        this.#latest = undefined;
      },
    };
  }

  async #makeOne(env: Env): Promise<void> {
    const text = await this.#make(env).catch(() => undefined); // the next one says what is so then
    if (text === undefined || this.#viewers.size === 0) return;
    this.#latest = { bytes: Buffer.from(text) };
    for (const tell of [...this.#waiting]) tell();
  }

  #change(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end);
      this.#waiting.add(end);
      if (signal.aborted) end();
    });
  }
}
