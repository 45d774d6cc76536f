import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type AgentEvent, sessionFault, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { KEEP_ALIVE } from "@rockbot/edge/inbound";
import type { Context } from "hono";
import type { Authenticate } from "../door/authenticate.ts";
import type { GatewayEnv } from "../door/guard.ts";
import { recheck } from "../door/recheck.ts";
import { sendStream } from "../http/send-stream.ts";
import { lastVersion } from "./last-version.ts";
import { readAfter } from "./read-session.ts";
import type { SessionHub } from "./session-hub.ts";
import type { SessionListener } from "./session-listener.ts";
import { withoutNulls } from "./without-nulls.ts";

export interface SessionEventsOptions {
  readonly authenticate: Authenticate;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long a client may leave what it was sent unread. */
  readonly stallMs: number;
  /** How often a silent stream has a comment, and its token is looked at. */
  readonly keepAliveMs: number;
  /** Aborts when the process stops: streams that would never end do then. */
  readonly signal: AbortSignal | undefined;
}

/** What the bus has lost last, with nothing behind it, is read after so long, while a turn runs and while none does. */
const LOOK_MS = { running: 30_000, idle: 300_000 } as const;

export const SESSION_EVENTS_PATH = "/v1/sessions/:id/events";
export const isSessionEvents = (method: string, path: string): boolean =>
  method === "GET" && /^\/v1\/sessions\/[^/]+\/events$/.test(path);

/**
 * Answers `GET /v1/sessions/{id}/events`: each step of the session's turns as an event, those that its log has and
 * those to come, until the client goes. Their ids are sequences: `Last-Event-ID`, or `after` in the query, has the
 * stream go on behind one.
 */
export function sessionEvents(
  hub: SessionHub,
  { authenticate, headers, stallMs, keepAliveMs, signal }: SessionEventsOptions,
) {
  return async (c: Context<GatewayEnv, "/v1/sessions/:id/events">): Promise<Response> => {
    const { outgoing } = c.env;
    const sessionId = c.req.param("id");
    const fault = sessionFault(sessionId);
    if (fault !== undefined)
      throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot follow the session: its id: ${fault}`);
    const after =
      readAfter(c.req.header("last-event-id"), "the header Last-Event-ID") ??
      readAfter(c.req.query("after"), "after in the query") ??
      0;
    using listener = await hub.listen(c.get("caller"), sessionId);
    listener.startAfter(after);
    const known = await listener.readOn();

    using _recheck = recheck(c, authenticate, keepAliveMs);
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const ends = signal === undefined ? gone.signal : AbortSignal.any([gone.signal, signal]);
    const response = new Response(ReadableStream.from(texts(listener, known, { keepAliveMs, signal: ends })), {
      headers: EVENT_STREAM,
    });
    await sendStream(outgoing, response, { headers, stallMs, onStall: () => c.get("visit").awaitReader() });
    return RESPONSE_ALREADY_SENT;
  };
}

export const EVENT_STREAM = { "content-type": "text/event-stream", "x-accel-buffering": "no" } as const;

async function* texts(
  listener: SessionListener,
  known: readonly AgentEvent[],
  { keepAliveMs, signal }: { readonly keepAliveMs: number; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  let lastKind = known.at(-1)?.kind ?? "turn_finished";
  let quietSince = performance.now();
  yield Buffer.from(lastVersion(known).map(textOf).join("") || KEEP_ALIVE);
  while (!signal.aborted) {
    await listener.wait(keepAliveMs, signal);
    if (signal.aborted) return;
    const events = [...(await listener.take())];
    const isQuiet =
      events.length === 0 &&
      performance.now() - quietSince >= LOOK_MS[lastKind === "turn_finished" ? "idle" : "running"];
    if (isQuiet) events.push(...(await listener.readOn().catch(() => [])));
    if (isQuiet || events.length > 0) quietSince = performance.now();
    lastKind = events.at(-1)?.kind ?? lastKind;
    yield Buffer.from(lastVersion(events).map(textOf).join("") || KEEP_ALIVE);
  }
}

const textOf = (event: AgentEvent): string =>
  `id: ${event.sequence}\nevent: ${event.kind}\ndata: ${JSON.stringify(withoutNulls(event))}\n\n`;
