import { EventEmitter } from "node:events";

/** As much as a kubelet keeps of one container before it begins a new file. */
const MAX_KEPT_BYTES = 10 * 1024 * 1024;

export interface ReadLogOptions {
  readonly tailLines?: number | undefined;
  readonly since?: Date | undefined;
}

interface Chunk {
  readonly at: number;
  readonly data: Buffer;
}

/** What a container has written, byte for byte in the order it came; the oldest goes when it is too much. */
export class ContainerLog {
  readonly #events = new EventEmitter().setMaxListeners(0);
  #chunks: Chunk[] = [];
  #bytes = 0;
  #isEnded = false;

  get isEnded(): boolean {
    return this.#isEnded;
  }

  append(data: Buffer): void {
    this.#chunks.push({ at: Date.now(), data });
    this.#bytes += data.length;
    while (this.#bytes > MAX_KEPT_BYTES) this.#bytes -= this.#chunks.shift()?.data.length ?? this.#bytes;
    this.#events.emit("data", data);
  }

  /** Nothing will be appended any more. */
  end(): void {
    this.#isEnded = true;
    this.#events.emit("end");
  }

  read({ tailLines, since }: ReadLogOptions = {}): Buffer {
    const all = Buffer.concat(
      this.#chunks.filter(({ at }) => since === undefined || at >= since.getTime()).map(({ data }) => data),
    );
    return tailLines === undefined ? all : all.subarray(startOfLastLines(all, tailLines));
  }

  /** Calls back with all that is appended from now on, and at the end. @returns what stops it */
  follow(onData: (data: Buffer) => void, onEnd: () => void): () => void {
    this.#events.on("data", onData).once("end", onEnd);
    return () => this.#events.off("data", onData).off("end", onEnd);
  }
}

function startOfLastLines(text: Buffer, lines: number): number {
  let start = text.length - (text.at(-1) === 10 ? 1 : 0);
  if (lines === 0) return text.length;
  for (let left = lines; left > 0 && start >= 0; left--) start = start === 0 ? -1 : text.lastIndexOf(10, start - 1);
  return start + 1;
}
