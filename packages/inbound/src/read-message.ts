/** A message that is too large to be taken. */
export interface TooLargeMessage {
  /** Of the request, so that it can be answered; undefined if it has none that can be found. */
  readonly id: string | number | undefined;
}

/** Of a message that is too large so much is read, for its id, and so that its sender can finish and hear the answer. */
const MAX_DRAINED_BYTES = 16 * 1024 * 1024;
/** Longer ids are nobody's. */
const MAX_ID_LENGTH = 256;
const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Reads one message of JSON-RPC. Holds at most `maxBytes` of it: of one that is larger, the id is looked for as it passes. */
export async function readMessage(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | TooLargeMessage> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  let scan: IdScan | undefined;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_DRAINED_BYTES) return { id: undefined };
    if (scan === undefined) held.push(chunk);
    if (bytes <= maxBytes) continue;
    if (scan !== undefined) scan.push(chunk);
    else {
      scan = new IdScan();
      for (const part of held.splice(0)) scan.push(part);
    }
  }
  return scan === undefined ? Buffer.concat(held, bytes) : { id: scan.id };
}

/** Finds the member `id` of the outermost object, without holding what else there is. */
class IdScan {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Whether the name before it was read, of a member of the outermost object. */
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
