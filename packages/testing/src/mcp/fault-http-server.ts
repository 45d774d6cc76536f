import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Answers a `tools/call`; everything before it is answered as a server should. */
export type FaultAnswer = (response: ServerResponse, request: IncomingMessage, id: number) => void;

export interface FaultHttpServer extends AsyncDisposable {
  readonly url: string;
  /** What comes of the next calls. */
  answer: FaultAnswer;
  /** What comes of a request to go on with a stream. */
  resume: (response: ServerResponse) => void;
  /** The events from which on streams were asked for again. */
  readonly resumedFrom: readonly string[];
  /** How many calls came. */
  readonly calls: number;
  /** The headers of all requests, in their order. */
  readonly authorizations: readonly (string | undefined)[];
}

const ok: FaultAnswer = (response, _, id) =>
  json(response, { id, result: { content: [{ type: "text", text: "fine" }] } });

/** The connection is gone in the middle of it. */
const reset: FaultAnswer = (response) => void response.destroy();

const noJson: FaultAnswer = (response) =>
  void response.writeHead(200, { "content-type": "application/json" }).end("<html>");

/** Events that are no answer, without end. */
const endless: FaultAnswer = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const timer = setInterval(() => response.write(": still there\n\n"), 20);
  response.on("close", () => clearInterval(timer));
};

/** One event without end. */
const endlessEvent: FaultAnswer = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const pour = (): void => {
    while (!response.destroyed && response.write(`data: ${"x".repeat(65_536)}\n`));
  };
  response.on("drain", pour);
  pour();
};

/** A stream that ends before the answer. */
const cutStream: FaultAnswer = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(": begun\n\n");
  setTimeout(() => response.destroy(), 50);
};

/** How a server over HTTP behaves. */
export const httpFaults = {
  ok,
  reset,
  noJson,
  endless,
  endlessEvent,
  cutStream,
  status:
    (status: number, headers: Readonly<Record<string, string>> = {}, body = "canary-in-body"): FaultAnswer =>
    (response) =>
      void response.writeHead(status, headers).end(body),
  body:
    (body: string): FaultAnswer =>
    (response) =>
      void response.writeHead(200, { "content-type": "application/json" }).end(body),
  /** A stream of events that ends after these. */
  events:
    (events: string): FaultAnswer =>
    (response) =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).end(events),
  redirect:
    (location: string): FaultAnswer =>
    (response) =>
      void response.writeHead(307, { location }).end(),
} as const;

const INITIALIZED = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "fault-http", version: "1.0.0" },
};

/**
 * An MCP server over Streamable HTTP (2025-11-25, without sessions) on a free port of 127.0.0.1, whose calls go wrong
 * as told.
 */
export async function startFaultHttpServer(): Promise<FaultHttpServer> {
  const authorizations: (string | undefined)[] = [];
  const resumedFrom: string[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    const from = request.headers["last-event-id"];
    if (typeof from === "string") {
      resumedFrom.push(from);
      return self.resume(response);
    }
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
      if (id === undefined) response.writeHead(202).end();
      else if (method === "initialize") json(response, { id, result: INITIALIZED });
      else if (method === "tools/list")
        json(response, {
          id,
          result: { tools: [{ name: "act", description: "Acts.", inputSchema: { type: "object" } }] },
        });
      else if (method !== "tools/call") json(response, { id, error: { code: -32601, message: "Method not found" } });
      else {
        calls++;
        self.answer(response, request, id);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const self = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    answer: httpFaults.ok as FaultAnswer,
    resume: (response: ServerResponse): void => void response.writeHead(400).end(),
    resumedFrom,
    authorizations,
    get calls() {
      return calls;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return self;
}

function json(response: ServerResponse, message: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", ...message }));
}
