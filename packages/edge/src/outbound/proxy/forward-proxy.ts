import { createServer, type IncomingMessage, request, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { pipeline } from "node:stream";
import { ProxyTraffic, type ProxyTrafficOptions } from "./proxy-traffic.ts";

/** Which places a browser may reach, and how much it may fetch. */
export interface ForwardProxyOptions extends ProxyTrafficOptions {
  /** The most connections of the browser at a time; more are closed. @default 64 */
  readonly maxConnections?: number | undefined;
}

/** A proxy that runs until it is disposed of. */
export interface ForwardProxy extends AsyncDisposable {
  /** On the loopback address of this machine, without a slash at the end. */
  readonly url: string;
  /** Places, as `HOST:PORT`, that were asked for and not reached as policy forbids them: the first 100. */
  readonly denied: readonly string[];
  /** True once `maxBytes` was reached. */
  readonly isOverLimit: boolean;
}

/** Headers of one hop, which the proxy does not pass on. */
const HOP_HEADERS = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
];

/**
 * A forward proxy on the loopback address, for a program whose own connections cannot be watched. Its tunnels (CONNECT)
 * and plain requests go to public addresses only, by the rules and look-up of `createPublicFetch`. To any other it
 * makes no connection, and answers 403.
 * @throws {RangeError} if an exception of `allowAddresses` cannot be read
 */
export async function startForwardProxy(options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const traffic = new ProxyTraffic(options);
  const proxy = createServer({ maxHeaderSize: 65_536 }, (asked, answer) => void forward(traffic, asked, answer));
  proxy.on(
    "connect",
    (asked: IncomingMessage, client: Socket, head: Buffer) => void tunnel(traffic, asked, { client, head }),
  );
  proxy.on("connection", (socket) => traffic.keep(socket));
  proxy.on("clientError", (_: Error, socket: Socket) => socket.destroy());
  proxy.maxConnections = options.maxConnections ?? 64;
  await new Promise<void>((resolve, reject) => {
    proxy.on("error", reject); // later: a connection could not be taken, and its client sees that
    proxy.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    get denied() {
      return traffic.denied;
    },
    get isOverLimit() {
      return traffic.isOverLimit;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      traffic.end();
      await closed;
    },
  };
}

/** Carries whatever the two sides say to each other. */
async function tunnel(
  traffic: ProxyTraffic,
  asked: IncomingMessage,
  { client, head }: { readonly client: Socket; readonly head: Buffer },
): Promise<void> {
  const place = URL.parse(`http://${asked.url}`);
  const server = await traffic.reach(place?.pathname === "/" ? place : null);
  if (typeof server === "number")
    return void client.end(
      `HTTP/1.1 ${server} ${STATUS_CODES[server]}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
    );
  if (client.destroyed) return void server.destroy();
  client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  server.write(head);
  pipeline(client, server, () => {});
  pipeline(server, traffic.counted(), client, () => {});
}

/** Sends a request that came with its whole address, and the answer back. */
async function forward(traffic: ProxyTraffic, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const place = URL.parse(asked.url ?? "");
  const server = place?.protocol === "http:" ? await traffic.reach(place) : 403;
  if (typeof server === "number" || place === null)
    return void answer.writeHead(typeof server === "number" ? server : 403).end();
  const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !HOP_HEADERS.includes(name)));
  const sent = request({
    method: asked.method,
    path: `${place.pathname}${place.search}`,
    headers: { ...headers, host: place.host, connection: "close" },
    createConnection: () => server,
    setHost: false,
  });
  sent.on("response", (response) => {
    const { connection: _connection, "keep-alive": _keep, ...rest } = response.headers;
    answer.writeHead(response.statusCode ?? 502, rest);
    pipeline(response, traffic.counted(), answer, () => {});
  });
  sent.on("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
  answer.once("close", () => sent.destroy());
  pipeline(asked, sent, () => {});
}
