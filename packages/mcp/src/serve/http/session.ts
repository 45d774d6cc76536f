import type { RequestId } from "@modelcontextprotocol/server";
import { ChangeStream } from "./change-stream.ts";

/**
 * The memory of a client of the older era between its requests. It holds which of them run, so that the client can
 * cancel them by another request, and where the client hears of changes. It holds nothing that a request needs to be
 * answered.
 */
export class Session {
  readonly id: string;
  /** Whose session it is; nobody else can use it. */
  readonly caller: string | undefined;
  /** True once the other endpoints know of it. */
  isNoted = true;
  #usedAt: number;
  readonly #clock: () => number;
  readonly #running = new Map<RequestId, AbortController>();
  #stream: ChangeStream | undefined;

  constructor(id: string, caller: string | undefined, clock: () => number) {
    this.id = id;
    this.caller = caller;
    this.#clock = clock;
    this.#usedAt = clock();
  }

  /** How long nothing has run and nobody has listened; 0 while something does. */
  get idleMs(): number {
    return this.isRunning || this.isListening ? 0 : this.#clock() - this.#usedAt;
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  get running(): readonly RequestId[] {
    return [...this.#running.keys()];
  }

  get isListening(): boolean {
    return this.#stream !== undefined;
  }

  /** A request of it has come. */
  use(): void {
    this.#usedAt = this.#clock();
  }

  isTaken(id: RequestId): boolean {
    return this.#running.has(id);
  }

  /** Notes that a request runs, until disposed. Aborting the controller ends it. */
  run(id: RequestId, controller: AbortController): Disposable {
    this.#running.set(id, controller);
    return {
      [Symbol.dispose]: () => {
        if (this.#running.get(id) === controller) this.#running.delete(id);
        this.use();
      },
    };
  }

  cancel(id: RequestId): void {
    this.#running.get(id)?.abort();
  }

  /** Opens the one stream of changes. An earlier one ends: its client may be gone without a word. */
  listen(options: { readonly keepAliveMs: number }): ChangeStream {
    this.stopListening();
    const stream = new ChangeStream(options);
    this.#stream = stream;
    void stream.ended.then(() => {
      if (this.#stream === stream) this.#stream = undefined;
      this.use();
    });
    return stream;
  }

  tell(): void {
    this.#stream?.tell();
  }

  stopListening(): void {
    this.#stream?.end();
  }

  /** Ends what runs and who listens. */
  end(): void {
    this.stopListening();
    for (const controller of this.#running.values()) controller.abort();
  }
}
