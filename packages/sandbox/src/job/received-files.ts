import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { ScriptFiles } from "../script-runner.ts";

/**
 * Hands on the files that a script has left, one after the other, as fast as they are taken. What is beyond the bounds is
 * dropped, whatever the sandbox says.
 */
export class ReceivedFiles {
  readonly #files: Pick<ScriptFiles, "mostFiles" | "mostBytes" | "onFile">;
  #current: { readonly stream: PassThrough; readonly taken: Promise<void> } | undefined;
  #begun = 0;
  /** What is still to come of the present one, where that is known. */
  #left = 0;
  #bytes = 0;

  constructor(files: Pick<ScriptFiles, "mostFiles" | "mostBytes" | "onFile">) {
    this.#files = files;
  }

  /** Begins the next file, once the one before was taken. Where its size is known, one that ends before was cut. */
  async begin(name: string, size?: number): Promise<void> {
    await this.end();
    this.#left = size ?? 0;
    this.#begun += 1;
    if (this.#begun > this.#files.mostFiles) return;
    const stream = new PassThrough();
    stream.on("error", () => {}); // it was taken in part only: its taker says why
    const taken = this.#files.onFile(name, stream).catch(() => {});
    void taken.then(() => stream.destroy()); // nothing piles up for one who takes no more
    this.#current = { stream, taken };
  }

  /** Resolves once there is room for more. Bytes that nobody takes are dropped. */
  async add(bytes: Buffer): Promise<void> {
    this.#bytes += bytes.length;
    this.#left -= bytes.length;
    if (this.#bytes > this.#files.mostBytes) return this.cut();
    const current = this.#current;
    if (current === undefined || current.stream.destroyed || current.stream.write(bytes)) return;
    const settled = new AbortController();
    await Promise.race([once(current.stream, "drain", { signal: settled.signal }).catch(() => {}), current.taken]);
    settled.abort();
  }

  /** Resolves once all that has begun was taken. */
  async end(): Promise<void> {
    if (this.#left > 0) this.cut();
    const current = this.#current;
    this.#current = undefined;
    current?.stream.end();
    await current?.taken;
  }

  /** Gives up a file whose rest does not come. */
  cut(): void {
    this.#current?.stream.destroy(new Error("the rest of the file does not come"));
  }
}
