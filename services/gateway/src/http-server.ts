import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { errorBody, HttpErrorCode, statusOf } from "./http-error.ts";

export interface ServeHttpOptions {
  /** How long a client may take to send a whole request, in milliseconds. @default 15_000 */
  readonly requestTimeoutMs?: number | undefined;
  /** How long disposal waits for running requests. @default 20_000 */
  readonly drainMs?: number | undefined;
  /** Ends the waiting of disposal at once. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the waiting is over and requests still run: a last chance for them to answer before their connections are cut. */
  readonly onDrainOver?: (() => void) | undefined;
}

/** What answers requests, such as a Hono app. */
export interface HttpApp {
  fetch(request: Request, env: HttpBindings): Response | Promise<Response>;
}

export interface HttpServer extends AsyncDisposable {
  /** The TCP port; 0 on a unix socket. */
  readonly port: number;
}

/** How long requests have to answer after `onDrainOver`. */
const LAST_WORDS_MS = 1000;
const MAX_CONNECTIONS = 2048;

/**
 * Serves the app on a TCP port or a unix socket; resolves once it listens. Disposal stops accepting, lets running
 * requests finish, and closes idle connections.
 * @throws {Error} with Node's `code`, such as EADDRINUSE, if it cannot listen
 */
export async function serveHttp(
  app: HttpApp,
  where: { readonly host: string; readonly port: number } | { readonly path: string },
  options: ServeHttpOptions = {},
): Promise<HttpServer> {
  const { requestTimeoutMs = 15_000, drainMs = 20_000, signal, onDrainOver } = options;
  const listener = getRequestListener(((request: Request, env: HttpBindings) => app.fetch(request, env)) as Parameters<typeof getRequestListener>[0], {
    overrideGlobalObjects: false,
    errorHandler,
  });
  let isStopping = false;
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    keepAliveTimeout: 5000,
    requireHostHeader: false, // refused by the listener, in words
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs), // how late a timeout may be noticed
  };
  const server = createServer(limits, (incoming, outgoing) => {
    if (isStopping) outgoing.shouldKeepAlive = false;
    outgoing.once("close", () => {
      if (isStopping) server.closeIdleConnections();
    });
    void listener(incoming, outgoing); // never rejects: errors become answers
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("clientError", refuse);
  server.on("checkExpectation", refuseExpectation);
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", (error: NodeJS.ErrnoException) => {
    const [name, help] = "path" in where ? [where.path, ""] : [`${where.host}:${where.port}`, ". Free the port or choose another"];
    reject(Object.assign(new Error(`Cannot listen on ${name}: ${error.code ?? error.message}${help}`, { cause: error }), { code: error.code }));
  });
  server.listen(where, resolve);
  await listening;
  const address = server.address() as AddressInfo | string;

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    isStopping = true;
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeIdleConnections();
    if (await within(closed, drainMs, signal)) return;
    onDrainOver?.();
    if (await within(closed, LAST_WORDS_MS)) return;
    server.closeAllConnections();
    await closed;
  }
  return {
    port: typeof address === "string" ? 0 : address.port,
    [Symbol.asyncDispose]: () => (stopping ??= stop()),
  };
}

/** Whether `done` came before the time was over or the signal aborted. */
async function within(done: Promise<void>, ms: number, signal?: AbortSignal): Promise<boolean> {
  const over = signal === undefined ? AbortSignal.timeout(ms) : AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  if (over.aborted) return false;
  const ended = Promise.withResolvers<boolean>();
  over.addEventListener("abort", () => ended.resolve(false), { once: true });
  return await Promise.race([done.then(() => true), ended.promise]);
}

/** Answers a request that is not even one for the app: a line that is no URL, a Host header that is no host. */
function errorHandler(error: unknown): Response {
  const fault =
    error instanceof RequestError
      ? new ToolError(HttpErrorCode.BadRequest, "Cannot read the request: its path or its Host header is malformed")
      : new ToolError(ToolErrorCode.ExecutionFailed, "Cannot answer the request: the gateway failed");
  return Response.json(errorBody(fault), { status: statusOf(fault.code) });
}

/** Answers a request that expects of a server what there is no word for; `100-continue` is known, and not among these. */
function refuseExpectation(_: IncomingMessage, outgoing: ServerResponse): void {
  const fault = new ToolError(
    HttpErrorCode.ExpectationFailed,
    'Cannot answer the request: it expects what cannot be done. Send no Expect header but "100-continue"',
  );
  outgoing.writeHead(statusOf(fault.code), { connection: "close", "content-type": "application/json" }).end(JSON.stringify(errorBody(fault)));
}

/** Answers what Node's parser refused, in the same form as everything else, and ends the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: { headersSent: boolean } | null }): void {
  // Once an answer has begun on the socket, a second one in its middle would be read as part of it.
  if (error.code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, reason, code, message] =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? [408, "Request Timeout", HttpErrorCode.RequestTimeout, "Cannot read the request: it did not arrive in time"]
      : error.code === "HPE_HEADER_OVERFLOW"
        ? [431, "Request Header Fields Too Large", ToolErrorCode.TooLarge, "Cannot read the request: its headers are too large"]
        : [400, "Bad Request", HttpErrorCode.BadRequest, "Cannot read the request: it is not HTTP"];
  const body = JSON.stringify(errorBody(new ToolError(code, message)));
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
