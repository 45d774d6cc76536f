import { EventEmitter } from "node:events";

/** As much as a kubelet keeps of one container before it begins a new file. */
const MAX_KEPT_BYTES = 10 * 1024 * 1024;

/** What a container has written, byte for byte in the order it came; the oldest goes when it is too much. */
export class ContainerLog {
  readonly #events = new EventEmitter().setMaxListeners(0);
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isEnded = false;

  get isEnded(): boolean {
    return this.#isEnded;
  }

  append(data: Buffer): void {
    this.#chunks.push(data);
    this.#bytes += data.length;
    while (this.#bytes > MAX_KEPT_BYTES) this.#bytes -= this.#chunks.shift()?.length ?? this.#bytes;
    this.#events.emit("data", data);
  }

  /** Nothing will be appended any more. */
  end(): void {
    this.#isEnded = true;
    this.#events.emit("end");
  }

  read(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Calls back with all that is appended from now on, and at the end. @returns what stops it */
  follow(onData: (data: Buffer) => void, onEnd: () => void): () => void {
    this.#events.on("data", onData).once("end", onEnd);
    return () => this.#events.off("data", onData).off("end", onEnd);
  }
}
