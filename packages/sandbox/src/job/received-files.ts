import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { ScriptFiles } from "../script-runner.ts";

/** Hands on the files that a script has left, one after the other, as fast as they are taken. */
export class ReceivedFiles {
  readonly #onFile: ScriptFiles["onFile"];
  #current: { readonly stream: PassThrough; readonly taken: Promise<void> } | undefined;

  constructor({ onFile }: ScriptFiles) {
    this.#onFile = onFile;
  }

  /** Begins the next file, once the one before was taken. */
  async begin(name: string): Promise<void> {
    await this.end();
    const stream = new PassThrough();
    stream.on("error", () => {}); // it was taken in part only: its taker says why
    this.#current = { stream, taken: this.#onFile(name, stream).catch(() => {}) };
  }

  /** Resolves once there is room for more. Bytes that nobody takes are dropped. */
  async add(bytes: Buffer): Promise<void> {
    const current = this.#current;
    if (current === undefined || current.stream.destroyed || current.stream.write(bytes)) return;
    const settled = new AbortController();
    await Promise.race([once(current.stream, "drain", { signal: settled.signal }).catch(() => {}), current.taken]);
    settled.abort();
  }

  /** Resolves once all that has begun was taken. */
  async end(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    current?.stream.end();
    await current?.taken;
  }

  /** Gives up a file whose rest does not come. */
  cut(): void {
    this.#current?.stream.destroy(new Error("the sandbox is gone"));
  }
}
