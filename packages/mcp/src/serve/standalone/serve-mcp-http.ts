import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { type Logger, silentLogger } from "@rockbot/bus";
import { MAX_REQUEST_BYTES } from "@rockbot/contracts";
import { readMessage } from "@rockbot/edge/body";
import {
  Admission,
  GaveWayError,
  letIn,
  NoPlaceError,
  SPARE_CONNECTIONS,
  type StrangerOptions,
  startServer,
  tallyByAddress,
  urlHost,
  type Visit,
  WaitingRoom,
} from "@rockbot/edge/inbound";
import { readInbound } from "../door/read-inbound.ts";
import { type AdmitOptions, createDoor, MCP_PATH, type Refusal } from "./admit.ts";
import type { ServedTools } from "./served-tool.ts";
import { toolServer } from "./tool-server.ts";

/** Where an MCP server listens, and whom it lets in. */
export interface ServeMcpHttpOptions extends AdmitOptions, StrangerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** How many requests run at once, streams included; more are answered with 503. */
  readonly maxConcurrent: number;
  /** How long disposal waits for running requests. */
  readonly drainMs: number;
  /** Aborting ends the waiting of disposal at once. */
  readonly signal?: AbortSignal | undefined;
  readonly log?: Logger | undefined;
}

/** An MCP server that listens. Disposal lets running requests end. */
export interface McpHttpServer extends AsyncDisposable {
  /** Where clients connect to, such as http://127.0.0.1:8482/mcp. */
  readonly url: string;
}

/** How long a client may take to read an answer. */
const ANSWER_MS = 30_000;

/**
 * Serves tools over Streamable HTTP at `/mcp`, to clients of both protocol eras, without sessions: any replica answers
 * any request. Resolves once it listens. Disposal takes no new requests, waits for those that run, then cuts them off.
 * @throws {Error} if it cannot listen
 */
export async function serveMcpHttp(served: ServedTools, options: ServeMcpHttpOptions): Promise<McpHttpServer> {
  const { host, port, maxConcurrent, strangersPerAddress, proxies, drainMs, signal, log = silentLogger } = options;
  const refusalOf = createDoor({
    ...options,
    allowedHosts: [...options.allowedHosts, urlHost(host)],
  });
  const refused = tallyByAddress((address, status, count) =>
    log.warn({ address, status, count }, "the server refused requests"),
  );
  const handler = createMcpHandler(() => toolServer(served, log), {
    maxSubscriptions: 0, // the tools never change
    onerror: (error) => log.debug({ err: error }, "could not read a request"),
  });
  const admission = new Admission({
    maxRunning: maxConcurrent,
    waiting: new WaitingRoom(maxConcurrent),
    answerMs: ANSWER_MS,
  });
  const listener = getRequestListener(
    (request, { outgoing }) =>
      answerRequest(request, () => admission.begin(outgoing as ServerResponse, undefined), handler),
    {
      overrideGlobalObjects: false,
    },
  );
  function listen(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const refusal = refusalOf(incoming);
    if (refusal !== undefined) {
      if (refusal.status !== 404) refused.note(incoming.socket.remoteAddress, String(refusal.status));
      refuse(outgoing, refusal);
      return;
    }
    letIn(incoming);
    void listener(incoming, outgoing);
  }
  const started = await startServer(
    listen,
    { host, port },
    {
      maxConnections: 2 * maxConcurrent + SPARE_CONNECTIONS,
      strangersPerAddress,
      proxies,
      drainMs,
      signal,
      onDrainOver: () => void handler.close(),
      refusal: (_, message) => errorBody(message),
    },
  );
  const url = `http://${urlHost(host)}:${started.port}${MCP_PATH}`;
  log.info({ url }, "MCP server listens");
  return {
    url,
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await handler.close();
      refused[Symbol.dispose]();
    },
  };
}

/** @param begin throws where there is no place for the request */
async function answerRequest(
  request: Request,
  begin: () => Visit,
  handler: ReturnType<typeof createMcpHandler>,
): Promise<Response> {
  try {
    const visit = begin();
    const { body, method, headers, signal: gone } = request;
    const bytes = body === null ? undefined : await visit.receive(() => readMessage(body, MAX_REQUEST_BYTES));
    visit.run();
    if (bytes === undefined) return await handler.fetch(request);
    const read = readInbound(bytes);
    if (read.ok)
      return await handler.fetch(new Request(request.url, { method, headers, signal: gone }), {
        parsedBody: read.value,
      });
    // A client's call ends by an answer with its id; a client that sent no id sees the status.
    return Response.json(read.answer, { status: read.answer.id !== null ? 200 : Buffer.isBuffer(bytes) ? 400 : 413 });
  } catch (error) {
    if (error instanceof NoPlaceError) return noPlace(error);
    if (error instanceof GaveWayError)
      return Response.json(errorBody(`Cannot read the request: ${error.message}. Send it faster`), { status: 408 });
    throw error;
  }
}

function refuse(outgoing: ServerResponse, { status, message }: Refusal): void {
  outgoing.writeHead(status, {
    connection: "close", // a body that is not read would be taken for the next request
    "content-type": "application/json",
    "cache-control": "no-store",
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  });
  outgoing.end(JSON.stringify(errorBody(message)));
}

const noPlace = ({ message }: NoPlaceError): Response =>
  Response.json(errorBody(`Cannot take the request: ${message}. Try again in a second`), {
    status: 503,
    headers: { "retry-after": "1", connection: "close" },
  });

const errorBody = (message: string) => ({ jsonrpc: "2.0", id: null, error: { code: -32000, message } });
