import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type ServerAddress, type StartedServer, type StartServerOptions, startServer } from "@rockbot/inbound";
import { errorBody, HttpErrorCode, statusOf } from "./http-error.ts";

export interface ServeHttpOptions extends StartServerOptions {
  /** How long a client may take to send a whole request, in milliseconds. @default 15_000 */
  readonly requestTimeoutMs?: number | undefined;
}

/** What answers requests, such as a Hono app. */
export interface HttpApp {
  fetch(request: Request, env: HttpBindings): Response | Promise<Response>;
}

const MAX_CONNECTIONS = 2048;

/**
 * Serves the app; resolves once it listens. Disposal lets running requests finish.
 * @throws {Error} with Node's `code`, such as EADDRINUSE, if it cannot listen
 */
export function serveHttp(app: HttpApp, where: ServerAddress, { requestTimeoutMs = 15_000, ...ending }: ServeHttpOptions = {}): Promise<StartedServer> {
  const listener = getRequestListener(((request: Request, env: HttpBindings) => app.fetch(request, env)) as Parameters<typeof getRequestListener>[0], {
    overrideGlobalObjects: false,
    errorHandler,
  });
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    keepAliveTimeout: 5000,
    requireHostHeader: false, // refused by the listener, in words
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs), // how late a timeout may be noticed
  };
  const server = createServer(limits, (incoming, outgoing) => {
    void listener(incoming, outgoing); // never rejects: errors become answers
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("clientError", refuse);
  server.on("checkExpectation", refuseExpectation);
  return startServer(server, where, ending);
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
