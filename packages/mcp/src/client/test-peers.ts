import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { type WebSocket, WebSocketServer } from "ws";
import type { McpServerAddress } from "./server-options.ts";
import { legacyServer } from "./test-legacy-server.ts";
import { modernServer } from "./test-modern-server.ts";
import { testEnv } from "./test-servers.ts";

/** A server of one of the SDKs, reached in one of the ways. */
export interface Peer extends AsyncDisposable {
  readonly address: McpServerAddress;
  /** Adds a tool `grown` from outside, where a call cannot. */
  readonly grow?: () => void;
}

const everything = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");

export const peers = {
  async stdioModern(): Promise<Peer> {
    return { address: stdio(join(import.meta.dirname, "test-modern-stdio.ts")), async [Symbol.asyncDispose]() {} };
  },
  async stdioLegacy(): Promise<Peer> {
    return { address: stdio(join(import.meta.dirname, "test-legacy-stdio.ts")), async [Symbol.asyncDispose]() {} };
  },
  async stdioEverything(): Promise<Peer> {
    return { address: stdio(everything), async [Symbol.asyncDispose]() {} };
  },
  async httpModern(): Promise<Peer> {
    const extra: string[] = [];
    const handler = createMcpHandler(() => modernServer(extra));
    const { origin, close } = await listen(getRequestListener((request) => handler.fetch(request)));
    return {
      address: { type: "http", url: `${origin}/mcp`, headers: {} },
      grow() {
        extra.push("grown");
        handler.notify.toolsChanged();
      },
      [Symbol.asyncDispose]: close,
    };
  },
  async httpLegacy(): Promise<Peer> {
    const sessions = new Map<string, StreamableHTTPServerTransport>();
    const { origin, close } = await listen(async (request, response) => {
      const known = sessions.get(String(request.headers["mcp-session-id"]));
      const transport =
        known ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (id) => void sessions.set(id, transport),
        });
      if (known === undefined)
        await legacyServer().connect(transport as Parameters<ReturnType<typeof legacyServer>["connect"]>[0]);
      await transport.handleRequest(request, response);
    });
    return { address: { type: "http", url: `${origin}/mcp`, headers: {} }, [Symbol.asyncDispose]: close };
  },
  sse: () => ssePeer("sse"),
  /** Found by an address that does not say how it is spoken to. */
  sseByAuto: () => ssePeer("auto"),
  async webSocket(): Promise<Peer> {
    const server = createServer();
    const sockets = new WebSocketServer({ server, handleProtocols: () => "mcp" });
    sockets.on("connection", (socket) => void legacyServer().connect(socketTransport(socket)));
    const { origin, close } = await listenOn(server);
    return {
      address: { type: "websocket", url: origin.replace("http", "ws"), headers: {} },
      async [Symbol.asyncDispose]() {
        for (const socket of sockets.clients) socket.terminate();
        await close();
      },
    };
  },
} as const;

async function ssePeer(type: "sse" | "auto"): Promise<Peer> {
  const sessions = new Map<string, SSEServerTransport>();
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://peer");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      sessions.set(transport.sessionId, transport);
      await legacyServer().connect(transport);
    } else if (request.method === "POST" && pathname === "/messages")
      await sessions.get(searchParams.get("sessionId") ?? "")?.handlePostMessage(request, response);
    else response.writeHead(405).end();
  }
  const { origin, close } = await listen((request, response) => void answer(request, response));
  return { address: { type, url: `${origin}/sse`, headers: {} }, [Symbol.asyncDispose]: close };
}

const stdio = (file: string): McpServerAddress => ({
  type: "stdio",
  command: process.execPath,
  args: [file],
  env: testEnv,
});

function socketTransport(socket: WebSocket): Parameters<ReturnType<typeof legacyServer>["connect"]>[0] {
  const transport: Parameters<ReturnType<typeof legacyServer>["connect"]>[0] = {
    async start() {
      socket.on("message", (data) => transport.onmessage?.(JSON.parse(String(data)) as JSONRPCMessage));
      socket.on("close", () => transport.onclose?.());
    },
    async send(message) {
      socket.send(JSON.stringify(message));
    },
    async close() {
      socket.close();
    },
  };
  return transport;
}

const listen = (listener: RequestListener) => listenOn(createServer(listener));

async function listenOn(
  server: ReturnType<typeof createServer>,
): Promise<{ readonly origin: string; readonly close: () => Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
