import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

/** What a path answers with: HTML text, a whole answer, or anything that can be written to a response. */
export type Page = string | PageAnswer | ((request: IncomingMessage, response: ServerResponse) => void | Promise<void>);

export interface PageAnswer {
  /** @default 200 */
  readonly status?: number;
  /** @default text/html; charset=utf-8 */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

export interface PageServer extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** How many connections came, whether or not a request followed. */
  readonly connections: number;
  readonly requests: readonly PageRequest[];
}

export interface PageRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Serves `pages` by path on a free port of 127.0.0.1, other paths with 404. Real HTTP, so that it can misbehave as real
 * servers do.
 */
export async function startPageServer(pages: Readonly<Record<string, Page>>): Promise<PageServer> {
  const requests: PageRequest[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    requests.push({ method: request.method ?? "", path, headers: request.headers });
    const page = pages[path] ?? pages[path.split("?")[0] ?? ""] ?? { status: 404, body: "<h1>Not found</h1>" };
    // The client may leave at any time: a page that is still being written then has nobody to tell.
    if (typeof page === "function") Promise.resolve(page(request, response)).catch(() => response.destroy());
    else answer(response, typeof page === "string" ? { body: page } : page);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get connections() {
      return connections;
    },
    requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(response: ServerResponse, { status = 200, headers = {}, body = "" }: PageAnswer): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/html; charset=utf-8");
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(body);
}

/** Pages that misbehave. */
export const badPages = {
  redirect: (location: string, status = 302): Page => ({ status, headers: { location }, body: "moved" }),
  /** Takes the request and never answers. */
  silent: (): Page => () => {},
  /** Sends headers and a beginning, then nothing more. */
  stalled:
    (beginning = "<p>begun"): Page =>
    (_, response) => {
      response.setHeader("content-type", "text/html");
      response.write(beginning);
    },
  /** Sends a byte every `everyMs` milliseconds, until the client leaves. */
  dripping:
    (everyMs: number): Page =>
    async (_, response) => {
      response.setHeader("content-type", "text/html");
      while (!response.destroyed) {
        response.write("x");
        await sleep(everyMs, undefined, { ref: false });
      }
    },
  /** Sends chunks as fast as they are taken, until the client leaves. */
  endless: (): Page => async (_, response) => {
    response.setHeader("content-type", "text/html");
    const chunk = Buffer.alloc(65_536, "x");
    await pipeline(function* () {
      while (true) yield chunk;
    }, response);
  },
  /** A small gzip body that unpacks to `bytes` zero characters. */
  gzipBomb: (bytes: number): Page => ({
    headers: { "content-encoding": "gzip" },
    body: gzipSync(Buffer.alloc(bytes, "0")),
  }),
  /** Closes the connection in the middle of the body. */
  broken: (): Page => (_, response) => {
    response.writeHead(200, { "content-type": "text/html", "content-length": "1000" });
    response.write("<p>begun");
    setImmediate(() => response.destroy());
  },
  /** Answers with bytes that are no HTTP. */
  noHttp: (): Page => (request) => {
    request.socket.end("SSH-2.0-OpenSSH_9.2\r\n");
  },
} as const;
