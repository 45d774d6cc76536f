import type { AmqplibReading } from "./amqplib-internals.ts";
import {
  FrameCursor,
  type IncomingMessage,
  type IncomingProperties,
  readDeliver,
  readProperties,
} from "./read-frames.ts";

/** The events of one channel. None of these may throw. */
export interface ChannelListener {
  readonly onMessage?: ((message: IncomingMessage) => void) | undefined;
  /**
   * A message has come whose headers nobody can read. The connection must go on: the message would come again on the
   * next.
   */
  readonly onUnreadable?: ((deliveryTag: number) => void) | undefined;
  /**
   * The broker's word on a message, and on all before it if `isMultiple`: that it has taken it, or that a queue is
   * full.
   */
  readonly onVerdict?: ((tag: number, isMultiple: boolean, isTaken: boolean) => void) | undefined;
}

/** A channel that is listened to, and the message that is coming there. */
interface Listening extends ChannelListener {
  fields: IncomingMessage["fields"] | undefined;
  properties: IncomingProperties | undefined;
  parts: Buffer[];
  missing: number;
}

const FrameType = { Method: 1, Header: 2, Body: 3 } as const;
const MethodId = { Deliver: 0x003c_003c, Ack: 0x003c_0050, Nack: 0x003c_0078 } as const;
const FRAME_HEADER_BYTES = 7;
const FRAME_OVERHEAD = 8;
const FRAME_END = 0xce;

/**
 * Reads the frames of a connection in amqplib's place. It reads deliveries and confirms of the channels that somebody
 * listens to, at a third of amqplib's cost. Any other frame is handed on to amqplib. A frame that cannot be read ends
 * the connection, as it does there.
 */
export class FrameReader {
  readonly #amqplib: AmqplibReading;
  readonly #maxFrameBytes: number;
  /** The listeners by the number of the channel. */
  readonly #listening = new Map<number, Listening>();
  readonly #cursor = new FrameCursor();
  #bytes: Buffer;
  /** The bytes before it are done with. */
  #at = 0;

  constructor(amqplib: AmqplibReading, maxFrameBytes: number) {
    this.#amqplib = amqplib;
    this.#maxFrameBytes = maxFrameBytes;
    this.#bytes = amqplib.takeOver(() => this.#next());
  }

  /** Until `forget`, which must come before the channel's number is anybody else's. */
  listen(channel: number, listener: ChannelListener): void {
    this.#listening.set(channel, {
      ...listener,
      fields: undefined,
      properties: undefined,
      parts: [],
      missing: 0,
    });
  }

  forget(channel: number): void {
    this.#listening.delete(channel);
  }

  /** @returns the next frame for amqplib, decoded by it; false if there is none now */
  #next(): unknown {
    for (;;) {
      const end = this.#endOfFrame();
      if (end === undefined) {
        if (!this.#readMore()) return false;
        continue;
      }
      const start = this.#at;
      this.#at = end;
      if (!this.#take(start, end)) return this.#amqplib.decode(this.#bytes.subarray(start, end));
    }
  }

  /** @returns undefined if the frame has not come whole */
  #endOfFrame(): number | undefined {
    if (this.#bytes.byteLength - this.#at < FRAME_OVERHEAD) return undefined;
    const size = this.#bytes.readUInt32BE(this.#at + 3);
    if (size > this.#maxFrameBytes)
      throw new RangeError(`The broker sends a frame of ${size} bytes, at most ${this.#maxFrameBytes} were agreed on`);
    const end = this.#at + FRAME_OVERHEAD + size;
    if (end > this.#bytes.byteLength) return undefined;
    if (this.#bytes[end - 1] !== FRAME_END) throw new RangeError("The broker sends a frame without an end");
    return end;
  }

  #readMore(): boolean {
    const more = this.#amqplib.read();
    if (more === null) return false;
    this.#bytes = this.#at === this.#bytes.byteLength ? more : Buffer.concat([this.#bytes.subarray(this.#at), more]);
    this.#at = 0;
    return true;
  }

  /** @returns false if the frame is amqplib's */
  #take(start: number, end: number): boolean {
    const listening = this.#listening.get(this.#bytes.readUInt16BE(start + 1));
    if (listening === undefined) return false;
    const type = this.#bytes[start];
    this.#cursor.set(this.#bytes, start + FRAME_HEADER_BYTES, end - 1);
    if (type === FrameType.Method) return this.#takeMethod(listening);
    if (listening.fields === undefined) return false; // of a message that came back
    if (type === FrameType.Header) this.#takeHeader(listening, start, end);
    else if (type === FrameType.Body) takePart(listening, this.#bytes.subarray(start + FRAME_HEADER_BYTES, end - 1));
    return true;
  }

  #takeMethod(listening: Listening): boolean {
    const { onMessage, onVerdict } = listening;
    const method = this.#cursor.uint32();
    if (method === MethodId.Deliver && onMessage !== undefined) {
      listening.fields = readDeliver(this.#cursor);
      return true;
    }
    if ((method !== MethodId.Ack && method !== MethodId.Nack) || onVerdict === undefined) return false;
    const tag = this.#cursor.uint64();
    onVerdict(tag, (this.#cursor.uint8() & 1) === 1, method === MethodId.Ack);
    return true;
  }

  #takeHeader(listening: Listening, start: number, end: number): void {
    this.#cursor.skip(4); // class and weight
    listening.missing = this.#cursor.uint64();
    listening.properties = readProperties(this.#cursor) ?? this.#decode(start, end);
    if (listening.missing === 0) finish(listening, Buffer.alloc(0));
  }

  /**
   * Headers that are tables, times and the like are rare: those of dead letters.
   * @returns undefined if their sender nested them too deep to be read
   */
  #decode(start: number, end: number): IncomingProperties | undefined {
    try {
      return this.#amqplib.decode(this.#bytes.subarray(start, end)).fields;
    } catch {
      return undefined;
    }
  }
}

function takePart(listening: Listening, part: Buffer): void {
  listening.missing -= part.byteLength;
  if (listening.missing < 0) throw new RangeError("The broker sends more of a message than it has announced");
  if (listening.missing > 0) listening.parts.push(part);
  else finish(listening, listening.parts.length === 0 ? part : Buffer.concat([...listening.parts, part]));
}

function finish(listening: Listening, content: Buffer): void {
  const { fields, properties } = listening;
  listening.fields = undefined;
  listening.properties = undefined;
  if (listening.parts.length > 0) listening.parts = [];
  if (fields === undefined) return;
  if (properties === undefined) listening.onUnreadable?.(fields.deliveryTag);
  else listening.onMessage?.({ fields, properties, content });
}
