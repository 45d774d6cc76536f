import type { Socket } from "node:net";
import {
  ACK_BYTES,
  endBodyFrame,
  FRAME_OVERHEAD,
  headRoom,
  type OutgoingMessage,
  startBodyFrame,
  writeAck,
  writeHead,
  writeNack,
} from "./frames.ts";

/** Frames gather in chunks of this size. */
const CHUNK_BYTES = 64 * 1024;
/** A body up to this is copied into the chunk; a larger one is cheaper to send as a piece of its own. */
const COPIED_BYTES = 8 * 1024;

/**
 * The frames of messages on one connection, of all its channels. They are written to the socket once for each turn of
 * the event loop. A system call costs as much as all other work for a small message. It writes past amqplib, whose own
 * frames (of the same channels, too) go to the socket in a later turn. So call `flush` before amqplib closes something.
 *
 * Its writers bound it: a publisher by its unconfirmed messages, a consumer by its prefetch.
 */
export class Outbox {
  readonly #socket: Socket;
  readonly #maxBodyBytes: number;
  /** Pieces that are full, before the one in `#chunk`. */
  #pieces: Uint8Array[] = [];
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  /** The bytes that are not written to the socket yet lie between these two. */
  #start = 0;
  #end = 0;
  #isDue = false;
  #endings: (() => void)[] = [];

  /** @param frameMax the largest frame of the connection, in bytes */
  constructor(socket: Socket, frameMax: number) {
    this.#socket = socket;
    this.#maxBodyBytes = frameMax - FRAME_OVERHEAD;
  }

  /**
   * The body must not change until the broker has confirmed.
   * @throws {RangeError} if a property cannot be carried: then nothing is written
   */
  publish(channel: number, message: OutgoingMessage): void {
    this.#makeRoom(headRoom(message));
    const headEnd = writeHead(this.#chunk, this.#end, channel, message);
    if (headEnd - this.#end > this.#maxBodyBytes) {
      // The broker would end the connection, and with it all that is on its way.
      throw new RangeError(
        `Cannot publish: properties and headers have ${headEnd - this.#end} bytes, at most ${this.#maxBodyBytes} are carried`,
      );
    }
    this.#end = headEnd;
    const { body } = message;
    for (let offset = 0; offset < body.byteLength; offset += this.#maxBodyBytes) {
      this.#writeBody(
        channel,
        body.byteLength <= this.#maxBodyBytes ? body : body.subarray(offset, offset + this.#maxBodyBytes),
      );
    }
    this.#flushSoon();
  }

  ack(channel: number, tag: number, isMultiple: boolean): void {
    this.#makeRoom(ACK_BYTES);
    this.#end = writeAck(this.#chunk, this.#end, channel, tag, isMultiple);
    this.#flushSoon();
  }

  nack(channel: number, tag: number, isRequeued: boolean): void {
    this.#makeRoom(ACK_BYTES);
    this.#end = writeNack(this.#chunk, this.#end, channel, tag, isRequeued);
    this.#flushSoon();
  }

  /** Calls `say` once, when all else of this turn has been said: then it can be said in few words. */
  atEndOfTurn(say: () => void): void {
    this.#endings.push(say);
    this.#flushSoon();
  }

  /** Writes to the socket now what has gathered; nothing happens if the connection is gone. */
  flush(): void {
    this.#endPiece();
    const pieces = this.#pieces;
    if (pieces.length === 0) return;
    this.#pieces = [];
    if (!this.#socket.writable) return;
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }

  #flushSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      const endings = this.#endings;
      this.#endings = [];
      for (const say of endings) say();
      this.#isDue = false;
      this.flush();
    });
  }

  #writeBody(channel: number, part: Uint8Array): void {
    const isCopied = part.byteLength <= COPIED_BYTES;
    this.#makeRoom(FRAME_OVERHEAD + (isCopied ? part.byteLength : 0));
    this.#end = startBodyFrame(this.#chunk, this.#end, channel, part.byteLength);
    if (isCopied) {
      this.#chunk.set(part, this.#end);
      this.#end += part.byteLength;
    } else {
      this.#endPiece();
      this.#pieces.push(part);
    }
    this.#end = endBodyFrame(this.#chunk, this.#end);
  }

  #makeRoom(bytes: number): void {
    if (this.#chunk.byteLength - this.#end >= bytes) return;
    this.#endPiece();
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes));
    this.#start = 0;
    this.#end = 0;
  }

  #endPiece(): void {
    if (this.#end === this.#start) return;
    this.#pieces.push(this.#chunk.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
