import type { Readable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { jsonLine } from "../../text/json-line.ts";
import { NotSentError } from "../call/not-sent-error.ts";
import { AskedRequests } from "../incoming/asked-requests.ts";
import { mendAnswers } from "../incoming/mend-answers.ts";
import type { StdioAddress } from "../server-options.ts";
import { LineSplitter } from "./line-splitter.ts";
import { watchMemory } from "./memory-watch.ts";
import { obstacleTo, type ProcessTree, startProcessTree } from "./process-tree.ts";
import { startFault } from "./start-fault.ts";
import { TailText } from "./tail-text.ts";

/** The last characters of a server's stderr that are kept. */
const STDERR_LENGTH = 8 * 1024;
/** Messages that a server does not read pile up to this; beyond, it gets no more. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/**
 * A server that says more lines than so many in this time is read no further until the time is over. Others have a
 * share of this process, too.
 */
const MAX_LINES = 50;
const LINES_MS = 10;
/**
 * Bytes that have come are taken in pieces of so many. So the bytes that came at once exceed a bound by no more than
 * that.
 */
const PIECE_BYTES = 4 * 1024;
/** JSON-RPC's range for errors of an implementation. */
const TOO_LONG = -32_098;
/** Once a process has ended, what it wrote before is read for at most this long. */
const REST_MS = 500;
/** Messages that are waited for by nobody are noise, but one that says so. */
const JSON_RPC_ID = /"id"\s*:\s*(\d{1,15})/;

/** Thrown by a call whose answer was dropped, since its line was too long to be held. */
export const TOO_LONG_CODE = TOO_LONG;

/**
 * A server as a process of its own, spoken to line by line. Lines that are no JSON-RPC are counted and passed over,
 * such as a server's log on the wrong stream. A line that is too long fails only the call that waited for it.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #address: StdioAddress;
  readonly #errors = new TailText(STDERR_LENGTH);
  readonly #asked = new AskedRequests();
  #tree: ProcessTree | undefined;
  #memoryWatch: Disposable | undefined;
  #isClosed = false;
  #garbageLines = 0;
  #exit: string | undefined;
  #linesRead = 0;
  #readSince = 0;

  constructor(address: StdioAddress) {
    this.#address = address;
  }

  /** The end of what the server wrote to stderr. For the operator: it may hold anything. */
  get stderr(): string {
    return this.#errors.toString();
  }

  get pid(): number | undefined {
    return this.#tree?.child.pid;
  }

  /** Lines that were no JSON-RPC. */
  get garbageLines(): number {
    return this.#garbageLines;
  }

  /** How the process ended, in words, once it has. */
  get exit(): string | undefined {
    return this.#exit;
  }

  /** Resolves once the process runs. */
  async start(): Promise<void> {
    const { maxMessageBytes, memoryMib } = this.#address;
    const obstacle = obstacleTo(this.#address);
    if (obstacle !== undefined) throw new NotSentError(obstacle);
    this.#tree = startProcessTree(this.#address);
    const { child } = this.#tree;
    const lines = new LineSplitter(
      { onLine: (line) => this.#read(line), onDropped: (bytes, ends) => this.#answerDropped(bytes, ends) },
      maxMessageBytes,
    );
    child.stdout.on("data", (chunk: Buffer) => {
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        if (this.#isTooFast()) return this.#rest(child.stdout, chunk.subarray(from));
        lines.push(chunk.subarray(from, from + PIECE_BYTES));
      }
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.#errors.push(text));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {}); // the end of the process tells
    child.once("exit", (code, signal) => {
      this.#memoryWatch?.[Symbol.dispose]();
      this.#exit ??= signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      // Its earlier output may still be on its way; a process that has inherited the output may keep it open for ever.
      const over = (): void => void this.close();
      child.once("close", over);
      setTimeout(over, REST_MS).unref();
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error: NodeJS.ErrnoException) => {
        this.#exit = startFault(this.#address, error.code);
        reject(new NotSentError(this.#exit, { cause: error }));
      });
    });
    if (memoryMib !== undefined && child.pid !== undefined)
      this.#memoryWatch = watchMemory(child.pid, memoryMib, (mib) => this.#endFor(mib, memoryMib));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#tree?.child.stdin;
    if (stdin === undefined || !stdin.writable || this.#isClosed || this.#exit !== undefined)
      throw new NotSentError("its process has ended");
    if (stdin.writableLength > MAX_UNREAD_BYTES) throw new NotSentError("it does not read what it is sent");
    this.#asked.sent(message);
    stdin.write(jsonLine(message));
  }

  /** Ends the process and all that it started. */
  async close(): Promise<void> {
    const isFirst = !this.#isClosed;
    this.#isClosed = true;
    this.#memoryWatch?.[Symbol.dispose]();
    if (isFirst) this.onclose?.(); // first, so that nobody waits for a process that takes its time to end
    await this.#tree?.end();
  }

  #endFor(mib: number, memoryMib: number): void {
    this.#exit = `it was ended as it used ${mib} MiB of memory, more than the ${memoryMib} it may`;
    this.#tree?.kill();
    void this.close();
  }

  #read(line: string): void {
    this.#linesRead++;
    if (this.#isClosed || line.trim() === "") return;
    for (const value of mendAnswers(line, () => this.#asked.only)?.messages ?? [undefined]) {
      let message: JSONRPCMessage;
      try {
        message = parseJSONRPCMessage(value);
      } catch {
        this.#garbageLines++;
        continue;
      }
      this.#asked.heard(message);
      this.onmessage?.(message);
    }
  }

  #answerDropped(bytes: number, ends: string): void {
    const id = JSON_RPC_ID.exec(ends)?.[1];
    if (id === undefined) this.#garbageLines++;
    else
      this.onmessage?.({
        jsonrpc: "2.0",
        id: Number(id),
        error: { code: TOO_LONG, message: `the answer has ${bytes} bytes` },
      });
  }

  #isTooFast(): boolean {
    const now = performance.now();
    if (now - this.#readSince >= LINES_MS) {
      this.#readSince = now;
      this.#linesRead = 0;
    }
    return this.#linesRead > MAX_LINES;
  }

  #rest(stdout: Readable, unread: Buffer): void {
    stdout.pause();
    stdout.unshift(unread);
    setTimeout(() => stdout.resume(), LINES_MS).unref();
  }
}
