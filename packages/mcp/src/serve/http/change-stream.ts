import { KEEP_ALIVE } from "@rockbot/edge/inbound";

const encoder = new TextEncoder();

/**
 * The stream on which a client of the older era hears that lists have changed. The kinds of news bound the messages
 * that wait to be read: news of one kind is sent once, however often it came.
 */
export class ChangeStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when it has ended, by either side. */
  readonly ended: Promise<void>;
  readonly #end = Promise.withResolvers<void>();
  readonly #pending = new Set<string>();
  readonly #keepAlive: NodeJS.Timeout;
  #isEnded = false;
  #wake = (): void => {};

  constructor({ keepAliveMs }: { readonly keepAliveMs: number }) {
    this.ended = this.#end.promise;
    this.#keepAlive = setInterval(() => this.#send(KEEP_ALIVE), keepAliveMs).unref();
    this.body = new ReadableStream(
      { pull: (controller) => this.#pull(controller), cancel: () => this.end() },
      { highWaterMark: 0 },
    );
  }

  tell(): void {
    for (const list of ["tools", "prompts", "resources"])
      this.#send(`event: message\ndata: {"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}\n\n`);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#keepAlive);
    this.#wake();
    this.#end.resolve();
  }

  #send(frame: string): void {
    this.#pending.add(frame);
    this.#wake();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (this.#pending.size === 0 && !this.#isEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#pending.size > 0) controller.enqueue(encoder.encode([...this.#pending].join("")));
    this.#pending.clear();
    if (this.#isEnded) controller.close();
  }
}
