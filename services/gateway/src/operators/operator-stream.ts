import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { KEEP_ALIVE } from "@rockbot/edge/inbound";
import type { Context } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import type { HttpApp } from "../http/http-server.ts";
import { sendStream } from "../http/send-stream.ts";
import { LatestText } from "./latest-text.ts";
import { OVERVIEW_PATH } from "./operator-overview.ts";

/** Where an operator follows the overview. */
export const STREAM_PATH = "/operator/stream";
/** Between the beginnings of two states, and as long as a stream is silent at most. */
const EVERY_MS = 1_000;
const SILENT_MS = 5_000;
const STREAMED = { "content-type": "text/event-stream", "x-accel-buffering": "no" };

export interface OperatorStreamOptions {
  /** Throws once the token or the session of a request does not hold any more. */
  readonly identify: (c: Context<GatewayEnv>) => unknown;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long a client may leave what it was sent unread. */
  readonly stallMs: number;
  /** Aborts when the process stops. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Answers `GET /operator/stream`: the overview as an event each second, made once for all who look. One who reads
 * slowly gets the newest. The stream ends with the session, or the token.
 */
export function operatorStream(
  operator: HttpApp,
  { identify, headers, stallMs, signal }: OperatorStreamOptions,
): (c: Context<GatewayEnv>) => Promise<Response> {
  const latest = new LatestText(EVERY_MS, async (env: GatewayEnv["Bindings"]) => {
    const answer = await operator.fetch(new Request(`http://gateway${OVERVIEW_PATH}`), env);
    return `event: overview\ndata: ${await answer.text()}\n\n`;
  });
  return async (c) => {
    if (c.req.method === "HEAD") return c.body(null, 200, STREAMED); // it gets no body: a stream would hold a place
    const { outgoing } = c.env;
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const ends = signal === undefined ? gone.signal : AbortSignal.any([gone.signal, signal]);
    const isOpen = (): boolean => {
      try {
        identify(c);
        return !ends.aborted;
      } catch {
        return false;
      }
    };
    async function* events(): AsyncGenerator<Uint8Array> {
      using viewer = latest.follow(c.env);
      while (isOpen()) yield (await viewer.next(SILENT_MS, ends)) ?? Buffer.from(KEEP_ALIVE);
    }
    const response = new Response(ReadableStream.from(events()), { headers: STREAMED });
    await sendStream(outgoing, response, { headers, stallMs, onStall: () => c.get("visit").awaitReader() });
    return RESPONSE_ALREADY_SENT;
  };
}
