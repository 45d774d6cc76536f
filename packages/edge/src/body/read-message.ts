import type { IncomingMessage } from "node:http";
import { hearIncoming } from "./hear-incoming.ts";

/** A message that is too large to be taken. */
export interface TooLargeMessage {
  /** The id of the request, so that it can be answered; undefined if none can be found. */
  readonly id: string | number | undefined;
}

/**
 * The bytes that are read of a message that is too large, for its id, and so that its sender can finish and read the
 * answer.
 */
const MAX_DRAINED_BYTES = 16 * 1024 * 1024;
/** Longer ids are nobody's. */
const MAX_ID_LENGTH = 256;
const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Reads one message of JSON-RPC. Holds at most `maxBytes` of it: of one that is larger, the id is looked for as it
 * passes.
 */
export async function readMessage(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | TooLargeMessage> {
  const reader = new MessageReader(maxBytes);
  for await (const chunk of chunks) {
    reader.push(chunk);
    if (reader.isEndless) break;
  }
  return reader.end();
}

/** The same of a request of a server: see hearIncoming. */
export function readIncomingMessage(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | TooLargeMessage> {
  const reader = new MessageReader(maxBytes);
  return hearIncoming(incoming, {
    take(chunk) {
      reader.push(chunk);
      return reader.isEndless;
    },
    end: () => reader.end(),
  });
}

/** Puts one message after another together from its pieces, by the rules of readMessage. */
export class MessageReader {
  readonly #maxBytes: number;
  #held: Uint8Array[] = [];
  #bytes = 0;
  #scan: IdScan | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The bytes of the message so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True if it is so large that the search for its id has ended. */
  get isEndless(): boolean {
    return this.#bytes > MAX_DRAINED_BYTES;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.isEndless) this.#held = [];
    else if (this.#scan !== undefined) this.#scan.push(chunk);
    else {
      this.#held.push(chunk);
      if (this.#bytes > this.#maxBytes) this.#scan = this.#scanHeld();
    }
  }

  /** The message that has ended; what is pushed then is of the next. */
  end(): Buffer | TooLargeMessage {
    const read =
      this.#bytes > this.#maxBytes
        ? { id: this.isEndless ? undefined : this.#scan?.id }
        : Buffer.concat(this.#held, this.#bytes);
    this.#held = [];
    this.#bytes = 0;
    this.#scan = undefined;
    return read;
  }

  #scanHeld(): IdScan {
    const scan = new IdScan();
    for (const part of this.#held) scan.push(part);
    this.#held = [];
    return scan;
  }
}

/** Finds the member `id` of the outermost object, without holding what else there is. */
class IdScan {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** True if the name before it was read, of a member of the outermost object. */
  #isValue = false;
  #name = "";
  #value = "";

  push(chunk: Uint8Array): void {
    for (const byte of chunk) this.#take(byte);
  }

  get id(): string | number | undefined {
    if (this.#value.length > MAX_ID_LENGTH) return undefined;
    try {
      const id: unknown = JSON.parse(Buffer.from(this.#value, "latin1").toString("utf8"));
      return typeof id === "string" || typeof id === "number" ? id : undefined;
    } catch {
      return undefined;
    }
  }

  #take(byte: number): void {
    if (this.#isInString) {
      this.#note(byte);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInString = false;
    } else if (byte === QUOTE) {
      this.#isInString = true;
      this.#note(byte);
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#depth--;
    else if (this.#depth === 1 && byte === COLON) this.#isValue = true;
    else if (this.#depth === 1 && byte === COMMA) {
      this.#isValue = false;
      this.#name = "";
    } else this.#note(byte);
  }

  #note(byte: number): void {
    if (this.#depth !== 1) return;
    if (!this.#isValue) {
      if (this.#name.length <= MAX_ID_LENGTH && byte > 0x20) this.#name += String.fromCharCode(byte);
    } else if (this.#name === '"id"' && this.#value.length <= MAX_ID_LENGTH) this.#value += String.fromCharCode(byte);
  }
}
