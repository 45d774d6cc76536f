import type { Logger } from "@rockbot/bus";
import { KEEP_ALIVE } from "@rockbot/edge/inbound";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "../operators/operator-routes.ts";
import type { DlqEvent } from "./dlq-event.ts";
import { DlqRequestError, readDlqRequest } from "./dlq-request.ts";
import { type DlqParts, runDlq } from "./run-dlq.ts";

/** Where an operator looks at parked messages. */
export const DLQ_PATH = "/operator/dlq";

const KEEP_ALIVE_MS = 10_000;

export interface DlqAppOptions {
  /** Aborts when the process stops and running requests are not waited for any longer. */
  readonly signal: AbortSignal;
  readonly log: Logger | undefined;
}

/**
 * The endpoints for operators in a running `rockbot up`: `POST /operator/dlq/{list|show|replay|purge}?service=…`,
 * answered with one server-sent event for each DlqEvent. It asks for no token. So it is for a socket that only its user
 * can open, or behind the gateway's door for operators. It is never for every client that can reach the gateway, as
 * tools can.
 */
export function createDlqApp(parts: () => Promise<DlqParts>, { signal, log }: DlqAppOptions): HttpApp {
  return {
    fetch({ url, method }) {
      const { pathname, searchParams } = new URL(url);
      const action = /^\/operator\/dlq\/([a-z]+)$/.exec(pathname)?.[1];
      if (action === undefined || method !== "POST") return noSuchOperatorPath();
      return new Response(streamDlq(parts, action, Object.fromEntries(searchParams), { signal, log }), {
        headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
      });
    },
  };
}

function streamDlq(
  parts: () => Promise<DlqParts>,
  action: string,
  fields: Readonly<Record<string, string>>,
  { signal, log }: DlqAppOptions,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const left = new AbortController();
  writer.closed.catch(() => left.abort(new Error("the operator has gone"))); // what nobody reads is not waited for
  const send = (text: string): Promise<void> => writer.write(Buffer.from(text));
  const emit = (event: DlqEvent): Promise<void> => send(`event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`);

  async function run(): Promise<void> {
    const keepAlive = setInterval(() => void send(KEEP_ALIVE).catch(() => {}), KEEP_ALIVE_MS);
    try {
      const request = readDlqRequest(action, fields);
      log?.info({ action, service: request.service }, "an operator looks at parked messages");
      await runDlq(await parts(), request, emit, AbortSignal.any([left.signal, signal]));
    } catch (error) {
      await emit(refusal(error)); // rejects if the operator has gone
    } finally {
      clearInterval(keepAlive);
      await writer.close();
    }
  }

  function refusal(error: unknown): DlqEvent {
    if (error instanceof DlqRequestError) return { kind: "refusal", message: error.message, isUsage: true };
    if (signal.aborted) return { kind: "refusal", message: "Cannot go on: the process is stopping", isUsage: false };
    if (!left.signal.aborted) log?.error({ err: error }, "an operator's request failed");
    return {
      kind: "refusal",
      message: "Cannot go on: the request failed. The log of the process says why",
      isUsage: false,
    };
  }

  run().catch(() => {}); // nobody is there to hear of it
  return readable;
}
