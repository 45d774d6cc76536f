import type { ServerResponse } from "node:http";
import { KEEP_ALIVE } from "@rockbot/edge/inbound";

/** Server-Sent Events on one response. */
export interface EventStream {
  /** Sends an event that may be lost: while the client does not read, only the latest is kept. */
  send(event: string, value: object): void;
  /** Sends the last event, after which the response ends. */
  end(event: string, value: object): void;
}

/** Starts the response. A comment every `keepAliveMs` tells proxies and clients that the connection lives. */
export function openEventStream(
  outgoing: ServerResponse,
  { keepAliveMs, headers }: { readonly keepAliveMs: number; readonly headers: Readonly<Record<string, string>> },
): EventStream {
  let waiting: string | undefined;
  outgoing.writeHead(200, { ...headers, "content-type": "text/event-stream", "x-accel-buffering": "no" });
  outgoing.flushHeaders();
  outgoing.on("drain", () => {
    if (waiting !== undefined && !outgoing.writableEnded) outgoing.write(waiting);
    waiting = undefined;
  });
  const keepAlive = setInterval(() => {
    if (!outgoing.writableNeedDrain) outgoing.write(KEEP_ALIVE);
  }, keepAliveMs);
  outgoing.once("close", () => clearInterval(keepAlive));

  return {
    send(event, value) {
      if (outgoing.writableEnded || outgoing.closed) return;
      if (outgoing.writableNeedDrain) waiting = eventText(event, value);
      else outgoing.write(eventText(event, value));
    },
    end(event, value) {
      clearInterval(keepAlive);
      if (outgoing.closed) return;
      outgoing.end((waiting ?? "") + eventText(event, value));
      waiting = undefined;
    },
  };
}

/** JSON text has no line breaks, so one data line holds it. */
const eventText = (event: string, value: object): string => `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
