import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";
import { NotSentError } from "../call/not-sent-error.ts";
import { AskedRequests } from "../incoming/asked-requests.ts";
import { mendAnswers } from "../incoming/mend-answers.ts";
import { MAX_LINE_BYTES } from "../stdio/line-splitter.ts";
import { codeOf } from "./bounded-fetch.ts";
import { NetworkFault } from "./network-fault.ts";

const HANDSHAKE_TIMEOUT_MS = 10_000;
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

/**
 * JSON-RPC over a WebSocket with the subprotocol `mcp`, one message a frame. A message above MAX_LINE_BYTES ends the
 * connection.
 */
export class WebSocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #asked = new AskedRequests();
  #socket: WebSocket | undefined;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  async start(): Promise<void> {
    const socket = new WebSocket(this.#url, "mcp", {
      headers: { ...this.#headers },
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_LINE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", (error) =>
        reject(
          new NotSentError(`the connection is refused (${handshakeOutcome(error)})`, {
            cause: new NetworkFault(this.#url, codeOf(error), error),
          }),
        ),
      );
    });
    socket.on("error", (error) => this.onerror?.(error));
    socket.on("close", () => this.onclose?.());
    socket.on("message", (data) => {
      for (const value of mendAnswers(String(data), () => this.#asked.only)?.messages ?? [undefined]) {
        let message: JSONRPCMessage;
        try {
          message = parseJSONRPCMessage(value);
        } catch (error) {
          this.onerror?.(error as Error);
          continue;
        }
        this.#asked.heard(message);
        this.onmessage?.(message);
      }
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) throw new NotSentError("the connection is closed");
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) throw new NotSentError("it does not read what it is sent");
    this.#asked.sent(message);
    socket.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return;
    socket.close();
    setTimeout(() => socket.terminate(), 1_000).unref(); // one that does not say goodbye
  }
}

/** The outcome of the handshake, without address or header. */
const handshakeOutcome = (error: Error): string =>
  /^Unexpected server response: \d+$/.exec(error.message)?.[0] ?? codeOf(error) ?? "unknown error";
