/**
 * Reads from frames of AMQP 0-9-1 what each message has. Offsets are checked: a frame that lies about its length
 * throws.
 */

/** A message as it came. */
export interface IncomingMessage {
  readonly fields: { readonly deliveryTag: number; readonly redelivered: boolean; readonly routingKey: string };
  readonly properties: IncomingProperties;
  readonly content: Buffer;
}

/** The fields as their sender wrote them, any sender. */
export interface IncomingProperties {
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly correlationId?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly expiration?: string | undefined;
  readonly messageId?: string | undefined;
  readonly timestamp?: number | undefined;
  readonly type?: string | undefined;
  readonly userId?: string | undefined;
}

/** Short texts are mostly those of the message before: they are looked up, not decoded. */
const KNOWN_TEXTS = 1024;
const KNOWN_BYTES = 48;

/** A place in a frame's payload, and the bytes up to its end. */
export class FrameCursor {
  readonly #known = new Array<string>(KNOWN_TEXTS).fill("");
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;

  set(bytes: Buffer, start: number, end: number): void {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  uint8(): number {
    return this.#bytes[this.skip(1)] as number;
  }

  uint16(): number {
    return this.#bytes.readUInt16BE(this.skip(2));
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.skip(4));
  }

  /** Whole as far as 2^53; nobody counts further. */
  uint64(): number {
    return this.uint32() * 2 ** 32 + this.uint32();
  }

  /** A text of up to 255 bytes. */
  shortText(): string {
    return this.#text(this.uint8());
  }

  /** The same, for an id or for what is left of a time: hardly any comes twice, so there is nothing to look up. */
  id(): string {
    const length = this.uint8();
    const start = this.skip(length);
    return this.#bytes.toString("utf8", start, this.#at);
  }

  skipShortText(): void {
    this.skip(this.uint8());
  }

  /** @returns undefined if a value is no text; then the place is anywhere */
  textTable(): Record<string, string> | undefined {
    const table: Record<string, string> = {};
    const size = this.uint32();
    const end = this.#at + size;
    while (this.#at < end) {
      const key = this.shortText();
      if (this.uint8() !== TEXT_TAG) return undefined;
      table[key] = this.#text(this.uint32());
    }
    return table;
  }

  /** @returns where it was */
  skip(bytes: number): number {
    const at = this.#at;
    this.#at += bytes;
    if (this.#at > this.#end) throw new RangeError("Cannot read a frame: it ends in the middle of a field");
    return at;
  }

  #text(length: number): string {
    const start = this.skip(length);
    if (length > KNOWN_BYTES) return this.#bytes.toString("utf8", start, this.#at);
    let hash = length;
    for (let at = start; at < this.#at; at++) hash = (Math.imul(hash, 31) + (this.#bytes[at] as number)) | 0;
    const slot = (hash ^ (hash >>> 15)) & (KNOWN_TEXTS - 1);
    const known = this.#known[slot] as string;
    if (this.#isAt(start, length, known)) return known;
    const text = this.#bytes.toString("utf8", start, this.#at);
    this.#known[slot] = text;
    return text;
  }

  #isAt(start: number, length: number, ascii: string): boolean {
    if (ascii.length !== length) return false;
    for (let index = 0; index < length; index++) {
      const byte = this.#bytes[start + index] as number;
      if (byte > 0x7f || byte !== ascii.charCodeAt(index)) return false;
    }
    return true;
  }
}

const TEXT_TAG = 0x53;

/** Reads the arguments of `basic.deliver`. */
export function readDeliver(cursor: FrameCursor): IncomingMessage["fields"] {
  cursor.skipShortText(); // whose it is, the channel knows
  const deliveryTag = cursor.uint64();
  const redelivered = (cursor.uint8() & 1) === 1;
  cursor.skipShortText(); // the exchange
  return { deliveryTag, redelivered, routingKey: cursor.shortText() };
}

/** Reads the properties of a content header, behind the size of its body. @returns undefined if a header is no text */
export function readProperties(cursor: FrameCursor): IncomingProperties | undefined {
  const flags = cursor.uint16();
  const has = (bit: number): boolean => (flags & bit) !== 0;
  const contentType = has(0x8000) ? cursor.shortText() : undefined;
  const contentEncoding = has(0x4000) ? cursor.shortText() : undefined;
  const headers = has(0x2000) ? cursor.textTable() : {};
  if (headers === undefined) return undefined;
  if (has(0x1000)) cursor.skip(1); // delivery mode
  if (has(0x0800)) cursor.skip(1); // priority
  const correlationId = has(0x0400) ? cursor.id() : undefined;
  const replyTo = has(0x0200) ? cursor.shortText() : undefined;
  const expiration = has(0x0100) ? cursor.id() : undefined;
  const messageId = has(0x0080) ? cursor.id() : undefined;
  const timestamp = has(0x0040) ? cursor.uint64() : undefined;
  const type = has(0x0020) ? cursor.shortText() : undefined;
  const userId = has(0x0010) ? cursor.shortText() : undefined;
  return {
    contentType,
    contentEncoding,
    headers,
    correlationId,
    replyTo,
    expiration,
    messageId,
    timestamp,
    type,
    userId,
  };
}
