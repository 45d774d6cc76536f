import type { IncomingMessage, ServerResponse } from "node:http";
import { within } from "@rockbot/base";
import { startServer } from "@rockbot/edge/inbound";
import { aliveAnswer, type HealthAnswer, type Readiness, readyAnswer } from "./health-answer.ts";

/** Where probes are answered, and from what. */
export interface ServeHealthOptions {
  /** 0 is any free port; undefined serves nothing. */
  readonly port: number | undefined;
  /** @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** Tells whether the service can take work now, or the reasons why not, in words for an operator. */
  readonly ready: () => Readiness;
  /** The metrics as Prometheus text. */
  readonly metrics: () => Promise<string>;
}

/** A server for probes that listens, or none. */
export interface HealthServer extends AsyncDisposable {
  /** The port in use; undefined if nothing is served. */
  readonly port: number | undefined;
}

const METRICS_TIMEOUT_MS = 5000;
/** How long disposal waits for an answer that is on its way. */
const CLOSE_MS = 1000;

/**
 * Serves `/healthz` (200 while the process lives), `/readyz` (200, or 503 with the reasons) and `/metrics`. There is no
 * login: nothing here is secret, yet the port is for the operator's network only.
 * @throws {Error} that names HEALTH_PORT, if the port is not available
 */
export async function serveHealth({
  port,
  host = "127.0.0.1",
  ready,
  metrics,
}: ServeHealthOptions): Promise<HealthServer> {
  if (port === undefined) return { port, async [Symbol.asyncDispose]() {} };

  const collect = shared(() =>
    within(METRICS_TIMEOUT_MS, metrics(), () => new Error("Cannot collect metrics: too late")),
  );
  return startServer(
    (request, response) => {
      void answer(request, { ready, metrics: collect })
        .catch((): Answer => text(503, "This could not be answered now. Try again\n"))
        .then((it) => send(response, it));
    },
    { host, port },
    { maxHeaderBytes: 8192, requestTimeoutMs: 5000, drainMs: CLOSE_MS },
  ).catch((error: Error) => {
    throw new Error(`HEALTH_PORT: ${error.message}`, { cause: error });
  });
}

/**
 * Callers that ask while it runs share its result: no caller needs a name here, and a thousand questions are to cost
 * one.
 */
function shared<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function answer(
  { method, url = "/" }: IncomingMessage,
  { ready, metrics }: Pick<ServeHealthOptions, "ready" | "metrics">,
): Promise<Answer> {
  if (method !== "GET" && method !== "HEAD") return text(405, "Only GET and HEAD are served here\n");
  switch (url.split("?", 1)[0]) {
    case "/healthz":
      return json(aliveAnswer);
    case "/readyz":
      return json(readyAnswer(ready()));
    case "/metrics":
      return {
        status: 200,
        type: "text/plain; version=0.0.4; charset=utf-8",
        body: await metrics(),
      };
    default:
      return text(404, "Served here: /healthz, /readyz, /metrics\n");
  }
}

const text = (status: number, body: string): Answer => ({ status, type: "text/plain; charset=utf-8", body });
const json = ({ status, body }: HealthAnswer): Answer => ({
  status,
  type: "application/json",
  body: `${JSON.stringify(body)}\n`,
});

function send(response: ServerResponse, { status, type, body }: Answer): void {
  // A connection that carried anything else than a probe is not kept: its body, if any, would be read as the next
  // request.
  const close = status === 405 ? { connection: "close", allow: "GET, HEAD" } : {};
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    ...close,
  });
  response.end(body);
}
