/** Methods of AMQP 0-9-1 that tests name: class and method number. */
const methods = {
  "connection.start-ok": [10, 11],
  "connection.tune-ok": [10, 31],
  "connection.open": [10, 40],
  "connection.open-ok": [10, 41],
  "channel.open": [20, 10],
  "channel.open-ok": [20, 11],
  "channel.close": [20, 40],
  "exchange.declare": [40, 10],
  "exchange.declare-ok": [40, 11],
  "queue.declare": [50, 10],
  "queue.declare-ok": [50, 11],
  "queue.bind": [50, 20],
  "queue.bind-ok": [50, 21],
  "basic.qos": [60, 10],
  "basic.qos-ok": [60, 11],
  "basic.consume": [60, 20],
  "basic.consume-ok": [60, 21],
  "basic.publish": [60, 40],
  "basic.deliver": [60, 60],
  "basic.ack": [60, 80],
  "confirm.select": [85, 10],
  "confirm.select-ok": [85, 11],
} as const;

export type AmqpMethod = keyof typeof methods;
export const amqpMethods = Object.keys(methods) as AmqpMethod[];

const names = new Map(
  Object.entries(methods).map(([name, [classId, methodId]]) => [(classId << 16) | methodId, name as AmqpMethod]),
);

const PROTOCOL_HEADER_BYTES = 8;
/** Type, channel and size, then the class and method of a method frame. */
const HEAD_BYTES = 11;
const FRAME_OVERHEAD = 8;
const METHOD_FRAME = 1;

export interface FoundMethod {
  /** Undefined for one that tests do not name. */
  readonly method: AmqpMethod | undefined;
  /** Where its frame begins in the chunk; negative if that was in an earlier one. */
  readonly start: number;
  /** The size of the whole frame. */
  readonly bytes: number;
}

/** Finds method frames in one direction of an AMQP connection, whatever the chunks it comes in. */
export class AmqpMethodScanner {
  #head = Buffer.alloc(0);
  /** Bytes of the current frame, or of the protocol header, that are still to come. */
  #skip: number;

  constructor({ isClient }: { readonly isClient: boolean }) {
    this.#skip = isClient ? PROTOCOL_HEADER_BYTES : 0;
  }

  /** @returns the methods whose head ends in `chunk` */
  scan(chunk: Buffer): FoundMethod[] {
    const found: FoundMethod[] = [];
    let position = 0;
    while (position < chunk.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - position);
        this.#skip -= skipped;
        position += skipped;
        continue;
      }
      // A heartbeat is shorter than the head of a method frame: its size is read first.
      const wanted = this.#head.length >= 7 ? Math.min(HEAD_BYTES, this.#head.readUInt32BE(3) + FRAME_OVERHEAD) : 7;
      const taken = chunk.subarray(position, position + wanted - this.#head.length);
      this.#head = Buffer.concat([this.#head, taken]);
      position += taken.length;
      if (this.#head.length < 7) continue;
      const frameBytes = this.#head.readUInt32BE(3) + FRAME_OVERHEAD;
      if (this.#head.length < Math.min(HEAD_BYTES, frameBytes)) continue;
      const isMethod = this.#head.readUInt8(0) === METHOD_FRAME && this.#head.length >= HEAD_BYTES;
      if (isMethod)
        found.push({
          method: names.get(this.#head.readUInt32BE(7)),
          start: position - this.#head.length,
          bytes: frameBytes,
        });
      this.#skip = frameBytes - this.#head.length;
      this.#head = Buffer.alloc(0);
    }
    return found;
  }
}
