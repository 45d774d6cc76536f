import type { Socket } from "node:net";
import type { Channel, ChannelModel } from "amqplib";
import type { IncomingProperties } from "./read-frames.ts";

/**
 * The parts that amqplib has and does not offer. Its socket: without it no watchdog can tell a silent peer, nor end the
 * connection to one. The numbers of its channels, the negotiated frame size and the place where it reads: with them we
 * write and read messages past its codec. Their frames are publishes and confirms, deliveries and acks. Its codec took
 * longer over a message than everything else together. Rare methods (handshake, topology, closing) stay with amqplib.
 * Its version is pinned; each of these is looked for on each connection, so that another version fails at the start, in
 * words.
 */
export function internalsOf(model: ChannelModel): { readonly socket: Socket; readonly frameMax: number } {
  const { stream: socket, frameMax } = model.connection as unknown as {
    readonly stream?: Socket;
    readonly frameMax?: unknown;
  };
  if (typeof socket?.cork !== "function") throw new AmqplibMismatchError("the socket of a connection");
  if (typeof frameMax !== "number") throw new AmqplibMismatchError("the frame size of a connection");
  return { socket, frameMax };
}

/** The number of a channel in its frames. */
export function numberOf(channel: Channel): number {
  const { ch } = channel as unknown as { readonly ch?: unknown };
  if (typeof ch !== "number") throw new AmqplibMismatchError("the number of a channel");
  return ch;
}

/** How amqplib reads. */
export interface AmqplibReading {
  /**
   * Has its frames read by `next` from now on, which gives them decoded, or false.
   * @returns what has come and is not read yet
   */
  takeOver(next: () => unknown): Buffer;
  /** @returns what has come since, null if nothing has */
  read(): Buffer | null;
  /** @param frame a whole one */
  decode(frame: Buffer): { readonly fields: IncomingProperties };
}

export function readingOf(model: ChannelModel): AmqplibReading {
  const connection = model.connection as unknown as Partial<ReadingConnection>;
  const { recvFrame, rest, stream } = connection;
  if (recvFrame === undefined || rest === undefined || stream === undefined)
    throw new AmqplibMismatchError("the reading of frames");
  return {
    takeOver(next) {
      connection.recvFrame = next;
      connection.rest = Buffer.alloc(0);
      return rest;
    },
    read() {
      const bytes = stream.read() as Buffer | null;
      if (bytes !== null) connection.recvSinceLastCheck = true; // for its heartbeats
      return bytes;
    },
    decode(frame) {
      connection.rest = frame;
      return recvFrame.call(connection) as ReturnType<AmqplibReading["decode"]>;
    },
  };
}

interface ReadingConnection {
  readonly stream: Socket;
  recvFrame: () => unknown;
  rest: Buffer;
  recvSinceLastCheck: boolean;
}

/** Another version of amqplib is installed than this package was written for. */
export class AmqplibMismatchError extends Error {
  override readonly name = "AmqplibMismatchError";

  constructor(what: string) {
    super(`Cannot use the installed version of amqplib: ${what} is not where version 2.3.1 keeps it`);
  }
}
