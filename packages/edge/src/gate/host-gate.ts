import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect } from "node:net";
import { type Duplex, duplexPair, pipeline } from "node:stream";

/** Where a gate leads, and its bounds. */
export interface HostGateOptions {
  /** `host:port`, each of which may be reached. */
  readonly hosts: ReadonlySet<string>;
  /** A host that no machine has, for which the gate's owner answers. @default none */
  readonly own?:
    | { readonly host: string; answer(method: string, path: string, outgoing: ServerResponse): void }
    | undefined;
  /** True if a request that is not encrypted may have effects. @default false */
  readonly mayHaveEffects?: boolean | undefined;
  /** How long a place has to accept a connection, and the longest silence on one, in milliseconds. */
  readonly idleMs: number;
  /** The bound of all that is received through it, in bytes. */
  readonly maxBytes: number;
}

const PLAIN = { "content-type": "text/plain; charset=utf-8" };

/** Says that the answer is the gate's own: without it the host seems to have refused. */
const refusal = (host: string): string => `This proxy refuses ${host}: it is not one of the granted hosts.\n`;

/** Why a connection through the gate came to nothing. */
export type GateFault = { readonly kind: "refused" | "failed"; readonly host: string } | { readonly kind: "too_large" };

/**
 * A proxy for the connections of a program that has no network. It reaches some hosts and no others, and looks into no
 * connection that is encrypted. It listens nowhere; its connections are handed to it. Disposal cuts them all.
 */
export interface HostGate extends Disposable {
  /** Takes a connection from its client. */
  take(connection: Duplex): void;
  /** A new connection, as its client sees it. */
  open(): Duplex;
  /** The first thing that went wrong. */
  readonly fault: GateFault | undefined;
}

/** Headers of one connection, not of what is asked. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Opens a gate, which waits for connections. */
export function openHostGate(options: HostGateOptions): HostGate {
  return new ProxyGate(options);
}

class ProxyGate implements HostGate {
  readonly #options: HostGateOptions;
  readonly #open = new Set<Duplex>();
  readonly #server: Server;
  #fault: GateFault | undefined;
  #received = 0;

  constructor(options: HostGateOptions) {
    this.#options = options;
    this.#server = createServer((incoming, outgoing) => this.#forward(incoming, outgoing))
      .on("connect", (incoming, client, head) => this.#tunnel(incoming, client, head))
      .on("clientError", (_, client) => client.destroy());
  }

  get fault(): GateFault | undefined {
    return this.#fault;
  }

  take(connection: Duplex): void {
    this.#open.add(connection);
    connection.on("error", () => {}).once("close", () => this.#open.delete(connection));
    this.#server.emit("connection", connection);
  }

  open(): Duplex {
    const [ours, theirs] = duplexPair();
    this.#open.add(ours);
    // A side that is cut off does not tell the other.
    ours
      .on("error", () => {})
      .once("close", () => {
        this.#open.delete(ours);
        theirs.destroy();
      });
    theirs
      .on("error", () => {})
      .once("close", () => {
        if (!theirs.writableFinished) ours.destroy();
      });
    this.#server.emit("connection", theirs);
    return ours;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#open) connection.destroy();
    this.#server.closeAllConnections();
  }

  #count(source: Duplex | IncomingMessage): void {
    source.on("data", (chunk: Buffer) => {
      this.#received += chunk.length;
      if (this.#received <= this.#options.maxBytes) return;
      this.#fault ??= { kind: "too_large" };
      source.destroy(new Error("More is received than may be"));
    });
  }

  #refuse(host: string, kind: "refused" | "failed"): void {
    this.#fault ??= { kind, host };
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { hosts, own, mayHaveEffects = false, idleMs } = this.#options;
    const { method = "" } = incoming;
    const url = URL.canParse(incoming.url ?? "") ? new URL(incoming.url ?? "") : undefined;
    if (url?.protocol !== "http:" || (!mayHaveEffects && method !== "GET" && method !== "HEAD"))
      return void outgoing.writeHead(400).end();
    if (url.host === own?.host) return void own.answer(method, url.pathname, outgoing);
    const host = `${url.hostname}:${url.port || "80"}`;
    if (!hosts.has(host)) {
      this.#refuse(url.hostname, "refused");
      return void outgoing.writeHead(403, PLAIN).end(refusal(host));
    }
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !HOP_BY_HOP.has(name)));
    const onward = requestHttp(url, { method, headers, agent: false, timeout: idleMs }, (answer) => {
      if ((answer.statusCode ?? 500) >= 500) this.#refuse(url.hostname, "failed");
      this.#count(answer);
      const passedOn = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name)));
      outgoing.writeHead(answer.statusCode ?? 502, passedOn);
      pipeline(answer, outgoing, () => {});
    });
    onward.on("timeout", () => onward.destroy(new Error("The host is silent")));
    onward.on("error", () => {
      this.#refuse(url.hostname, "failed");
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502, PLAIN).end(`This proxy cannot reach ${host}.\n`);
    });
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  }

  #tunnel(incoming: IncomingMessage, client: Duplex, head: Buffer): void {
    const { hosts, idleMs } = this.#options;
    const [, hostname = "", port = ""] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(incoming.url ?? "") ?? [];
    if (!hosts.has(`${hostname}:${port}`)) {
      this.#refuse(hostname, "refused");
      const text = refusal(`${hostname}:${port}`);
      return void client.end(
        `HTTP/1.1 403 Forbidden\r\ncontent-type: ${PLAIN["content-type"]}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
    }
    const onward = connect({ host: hostname, port: Number(port), timeout: idleMs });
    onward.on("timeout", () => onward.destroy(new Error("The host is silent")));
    onward.on("error", () => {
      this.#refuse(hostname, "failed");
      client.destroy();
    });
    onward.once("connect", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.write(head);
      this.#count(onward);
      pipeline(client, onward, client, () => {});
    });
    client.on("close", () => onward.destroy());
  }
}
