import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { MAX_REQUEST_BYTES } from "@rockbot/contracts";
import { MessageReader } from "@rockbot/edge/body";
import { jsonLine } from "../../text/json-line.ts";
import { type InboundRefusal, readInbound, refuseMalformed } from "./read-inbound.ts";

export interface StdioStreams {
  readonly input: Readable;
  /** Nothing but the protocol goes there. */
  readonly output: Writable;
}

/** The bytes of answers that a client may leave unread; beyond, nothing more of its messages is read. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
const NEWLINE = 10;

/**
 * The client at the other end of two streams, spoken to line by line. Lines that cannot be read are answered here, with
 * the bound and the words of the other doors. The SDK's own reader would change arguments in silence, and end with a
 * line that is too long.
 */
export class StdioDoor implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  /** Resolves when the client has closed its end, or the door was closed. */
  readonly ended: Promise<void>;
  readonly #streams: StdioStreams;
  readonly #reader = new MessageReader(MAX_REQUEST_BYTES);
  readonly #end = Promise.withResolvers<void>();
  #isClosed = false;

  constructor(streams: StdioStreams) {
    this.#streams = streams;
    this.ended = this.#end.promise;
  }

  async start(): Promise<void> {
    const { input, output } = this.#streams;
    if (input.readableEnded || input.destroyed) setImmediate(this.#onEnd);
    input.on("data", this.#onData).on("error", this.#onEnd).on("end", this.#onEnd).on("close", this.#onEnd);
    output.on("error", this.#onEnd); // stays, as what was written may fail later
    output.on("close", this.#onEnd);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("Cannot send: the client has closed its end");
    this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { input, output } = this.#streams;
    input.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd);
    output.off("drain", this.#onDrain).off("close", this.#onEnd);
    input.pause();
    this.#end.resolve();
    this.onclose?.();
  }

  readonly #onEnd = (): void => void this.close();

  readonly #onDrain = (): void => void this.#streams.input.resume();

  readonly #onData = (chunk: Buffer): void => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#reader.push(chunk.subarray(from, end));
      this.#readLine();
      from = end + 1;
    }
    this.#reader.push(chunk.subarray(from));
  };

  #readLine(): void {
    const line = this.#reader.end();
    if (this.#isClosed || (Buffer.isBuffer(line) && isBlank(line))) return;
    const read = readInbound(line);
    const message = read.ok ? messageIn(read.value) : read;
    if (message.ok) this.onmessage?.(message.value);
    else this.#write(message.answer);
  }

  #write(message: object): void {
    const { input, output } = this.#streams;
    output.write(jsonLine(message));
    if (output.writableLength <= MAX_UNREAD_BYTES) return;
    input.pause();
    output.once("drain", this.#onDrain);
  }
}

const isBlank = (line: Buffer): boolean => line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);

function messageIn(
  value: unknown,
): { readonly ok: true; readonly value: JSONRPCMessage } | { readonly ok: false; readonly answer: InboundRefusal } {
  try {
    return { ok: true, value: parseJSONRPCMessage(value) };
  } catch {
    return { ok: false, answer: refuseMalformed(value) };
  }
}
