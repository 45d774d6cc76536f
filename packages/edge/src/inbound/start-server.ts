import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { readAddresses } from "./addresses.ts";
import { Connections } from "./connections.ts";
import { urlHost } from "./url-host.ts";

/** Where a server listens: a TCP address or a unix socket. */
export type ServerAddress =
  | { readonly host: string /** 0 takes any free one. */; readonly port: number }
  | { readonly path: string };

/** Settings of a server that strangers can reach. */
export interface StrangerOptions {
  /**
   * How many connections one address may have on which no request was let in; one more, and the oldest is closed.
   * @default 128
   */
  readonly strangersPerAddress?: number | undefined;
  /** Addresses and networks of proxies, which the bound per address does not hold for. @default [] */
  readonly proxies?: readonly string[] | undefined;
}

export interface EndingOptions {
  /** How long disposal waits for running requests. @default 20_000 */
  readonly drainMs?: number | undefined;
  /** Ends the waiting of disposal at once. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when the waiting is over and requests still run: a last chance for them to answer, within a second, before
   * their connections are cut.
   */
  readonly onDrainOver?: (() => void) | undefined;
}

/** Bounds of a server, and what it does at its end. */
export interface StartServerOptions extends StrangerOptions, EndingOptions {
  /**
   * How many connections may be open: as many as requests run at once, and the spare ones.
   * @default SPARE_CONNECTIONS
   */
  readonly maxConnections?: number | undefined;
  /** How long a client may take to send a whole request, in milliseconds. @default 15_000 */
  readonly requestTimeoutMs?: number | undefined;
  /** The bound of a request's headers. @default 16_384 */
  readonly maxHeaderBytes?: number | undefined;
  /** The body of an answer to what is no request, as JSON. @default an object with the message */
  readonly refusal?: ((status: UnreadableStatus, message: string) => object) | undefined;
}

/** The status of the answer to a request that never reached the listener. */
export type UnreadableStatus = 400 | 408 | 417 | 431;

/** A server that listens. Disposal lets running requests end. */
export interface StartedServer extends AsyncDisposable {
  /** The TCP port; 0 on a unix socket. */
  readonly port: number;
}

/** Connections beyond those whose requests run, for clients on their way in: callers, operators, probes. */
export const SPARE_CONNECTIONS = 1024;
const KEEP_ALIVE_MS = 5000;
/** How long requests have to answer after `onDrainOver`. */
const LAST_WORDS_MS = 1000;
/** How long a client has to read why it was refused. */
const LINGER_MS = 500;
const REASONS = {
  400: "Bad Request",
  408: "Request Timeout",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
} as const;

const doors = new WeakMap<Socket, Connections>();

/**
 * Says that who sent the request may send it. Until then its connection is a stranger's, and gives way to newer ones.
 */
export function letIn({ socket }: IncomingMessage): void {
  doors.get(socket)?.letIn(socket);
}

/**
 * Serves HTTP to strangers; resolves once it listens. It cuts off a client that says nothing, says too little or does
 * not read its answer. So such a client keeps no other out. Only permitted users can open a unix socket, so there it
 * lets every request in. Disposal stops accepting, lets running requests finish, closes idle connections, and cuts off
 * what is left.
 * @throws {Error} with Node's `code`, such as EADDRINUSE, if it cannot listen
 * @throws {RangeError} if a proxy is no address
 */
export async function startServer(
  listener: RequestListener,
  where: ServerAddress,
  options: StartServerOptions = {},
): Promise<StartedServer> {
  const {
    maxConnections = SPARE_CONNECTIONS,
    strangersPerAddress,
    proxies,
    requestTimeoutMs = 15_000,
    maxHeaderBytes = 16_384,
  } = options;
  const { refusal = (_, message) => ({ message }), drainMs = 20_000, signal, onDrainOver } = options;
  const server = createServer({
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: maxHeaderBytes,
    requireHostHeader: false, // the front door refuses it, in words
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs), // how late a timeout may be noticed
  });
  const connections = new Connections({
    maxOpen: maxConnections,
    strangersPerAddress,
    proxies: proxies && readAddresses(proxies),
  });
  let isStopping = false;
  server.on("connection", (socket) => {
    doors.set(socket, connections);
    connections.add(socket);
  });
  server.on("request", (incoming, outgoing) => {
    const { socket } = incoming;
    connections.begin(socket);
    if ("path" in where) connections.letIn(socket);
    if (isStopping) outgoing.shouldKeepAlive = false;
    outgoing.once("close", () => {
      connections.end(socket);
      if (isStopping) server.closeIdleConnections();
    });
  });
  server.on("request", listener);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuseUnreadable(error, socket, refusal));
  server.on("checkExpectation", (_, outgoing) => refuseExpectation(outgoing, refusal));
  // Nothing moves on a connection. That is well while a request runs on it, unless an answer is there and nobody reads
  // it. A request that has not arrived in time gets its refusal first.
  const stillMs = 2 * requestTimeoutMs + 1000;
  server.setTimeout(stillMs, (socket: Socket) => {
    if (connections.isWorking(socket) && socket.writableLength === 0) socket.setTimeout(stillMs);
    else socket.destroy();
  });
  await listen(server, where);
  const address = server.address() as AddressInfo | string;

  async function stop(): Promise<void> {
    isStopping = true;
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeIdleConnections();
    if (await hasEnded(closed, drainMs, signal)) return;
    if (onDrainOver !== undefined) {
      onDrainOver();
      if (await hasEnded(closed, LAST_WORDS_MS)) return;
    }
    server.closeAllConnections();
    await closed;
  }
  let stopping: Promise<void> | undefined;
  return {
    port: typeof address === "string" ? 0 : address.port,
    [Symbol.asyncDispose]: () => (stopping ??= stop()),
  };
}

type Refusal = NonNullable<StartServerOptions["refusal"]>;

/** Answers what Node's parser refused, and ends the connection, whether its client does so or not. */
function refuseUnreadable(
  { code }: NodeJS.ErrnoException,
  socket: Socket & { _httpMessage?: { headersSent: boolean } | null },
  refusal: Refusal,
): void {
  if (socket.writableEnded && !socket.destroyed) return; // refused before; more of it comes while its client reads why
  // Once an answer has begun on the socket, a second one in its middle would be read as part of it.
  if (code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, why] =
    code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? ([408, "it did not arrive in time"] as const)
      : code === "HPE_HEADER_OVERFLOW"
        ? ([431, "its headers are too large"] as const)
        : ([400, "it is not HTTP"] as const);
  const body = JSON.stringify(refusal(status, `Cannot read the request: ${why}`));
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // Destroyed at once, it would take back what its client has not read yet.
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(cut));
}

/**
 * Answers a request that expects of a server what there is no word for; `100-continue` is known, and not among these.
 */
function refuseExpectation(outgoing: ServerResponse, refusal: Refusal): void {
  const body = refusal(
    417,
    'Cannot answer the request: it expects what cannot be done. Send no Expect header but "100-continue"',
  );
  outgoing.writeHead(417, { connection: "close", "content-type": "application/json" }).end(JSON.stringify(body));
}

async function listen(server: Server, where: ServerAddress): Promise<void> {
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  // Later errors are of a connection that the system could not take: its client sees that, and the others stay.
  server.on("error", (error: NodeJS.ErrnoException) => {
    const [name, help] =
      "path" in where
        ? [where.path, ""]
        : [`${urlHost(where.host)}:${where.port}`, ". Free the port or choose another"];
    reject(
      Object.assign(new Error(`Cannot listen on ${name}: ${error.code ?? error.message}${help}`, { cause: error }), {
        code: error.code,
      }),
    );
  });
  server.listen(where, resolve);
  await listening;
}

/** Tells whether `done` came before the time was over or the signal aborted. */
async function hasEnded(done: Promise<void>, ms: number, signal?: AbortSignal): Promise<boolean> {
  const over = signal === undefined ? AbortSignal.timeout(ms) : AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  if (over.aborted) return false;
  const ended = Promise.withResolvers<boolean>();
  over.addEventListener("abort", () => ended.resolve(false), { once: true });
  return await Promise.race([done.then(() => true), ended.promise]);
}
