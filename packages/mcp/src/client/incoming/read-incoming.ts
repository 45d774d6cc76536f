import type { JSONRPCMessage, JSONRPCRequest, Transport } from "@modelcontextprotocol/client";
import { AskedRequests } from "./asked-requests.ts";
import { noAnswer } from "./mend-answers.ts";
import { readableResult } from "./readable-result.ts";

type Listener = NonNullable<Transport["onmessage"]>;
const METHOD_NOT_FOUND = -32_601;

type Result = Readonly<Record<string, unknown>>;

export interface IncomingReader {
  /** True if the SDK drops the server's requests, as the newer era has none. The server would wait for its answer. */
  dropsRequests(): boolean;
  /** A message came, whatever it is. */
  onHeard(): void;
  /** A message came, or goes out. */
  onFrame(direction: "sent" | "received", message: JSONRPCMessage): void;
  /** A list of tools is asked for, from its first page on. */
  onListBegins(): void;
  /** One page of it, as the SDK may have it. */
  readPage(result: Result): Result;
  /** Gets the lines that the server says for a log. */
  onLog(params: unknown): void;
}

/**
 * Reads a server's messages before the SDK does, which refuses a whole answer for one part of it that is slightly
 * wrong. Results are handed over a turn later than notifications. The SDK handles a notification a moment after it
 * came, and a result at once. So progress that came together with its result, as happens on one stream for all, would
 * be lost. A request whose own stream has ended for good without its answer gets one that says so: the SDK would wait
 * until the deadline.
 */
export function readIncoming<T extends Transport>(transport: T, reader: IncomingReader): T {
  let listener: Listener | undefined;
  /** How what is asked for and not answered yet is read. */
  const readers = new Map<unknown, (result: Result) => Result>();
  const asked = new AskedRequests();
  const deliver: Listener = (message, extra) => {
    const said: JSONRPCMessage = message;
    reader.onHeard();
    reader.onFrame("received", said);
    if ("method" in said) {
      if (said.method === "notifications/message") reader.onLog(said.params);
      else if ("id" in said && reader.dropsRequests())
        void transport.send(answerTo(said)).catch(() => {}); // the server is gone, or wants none
      else listener?.(message, extra);
      return;
    }
    asked.heard(said);
    const read = readers.get(said.id);
    readers.delete(said.id);
    const readable = read !== undefined && "result" in said ? { ...said, result: readOr(said.result, read) } : said;
    setImmediate(() => listener?.(readable as typeof message, extra));
  };
  Object.defineProperty(transport, "onmessage", {
    get: () => (listener === undefined ? undefined : deliver),
    set(given: Listener | undefined) {
      listener = given === deliver ? listener : given;
    },
  });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    asked.sent(message);
    reader.onFrame("sent", message);
    if ("method" in message) {
      const { method, params } = message;
      if (method === "tools/list" && params?.["cursor"] === undefined) reader.onListBegins();
      if (method === "notifications/cancelled") readers.delete(params?.["requestId"]);
      if ("id" in message && method === "tools/list") readers.set(message.id, reader.readPage);
      if ("id" in message && method === "tools/call") readers.set(message.id, readableResult);
    }
    if (!("method" in message && "id" in message)) return send(message, options);
    const { id } = message;
    options?.requestSignal?.addEventListener("abort", () => {
      asked.forget(id);
      readers.delete(id);
    });
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      if (asked.has(id)) deliver(noAnswer(id));
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return transport;
}

const answerTo = ({ id, method }: JSONRPCRequest): JSONRPCMessage =>
  method === "ping"
    ? { jsonrpc: "2.0", id, result: {} }
    : { jsonrpc: "2.0", id, error: { code: METHOD_NOT_FOUND, message: "Method not found" } };

/** The SDK refuses messages that cannot be read, such as those nested without end. */
function readOr(result: Result, read: (result: Result) => Result): Result {
  try {
    return read(result);
  } catch {
    return result;
  }
}
