import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createMemoryBus,
  createToolCaller,
  defineTool,
  serveTools,
  type ToolCaller,
  ToolError,
  ToolErrorCode,
} from "rockbot";
import { toolDefinition } from "rockbot/json-schema";

/** `stock_of`: how many of an item the shop has. */
const stockOf = toolDefinition<{ readonly item: string }>({
  name: "stock_of",
  description: "Say how many of an item the shop has.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["item"],
    properties: { item: { type: "string", pattern: "^[a-z]+$" } },
  },
  outputSchema: {
    type: "object",
    required: ["item", "count"],
    properties: { item: { type: "string" }, count: { type: "integer" } },
  },
  readOnly: true,
});

export interface App extends AsyncDisposable {
  readonly url: string;
}

/**
 * A shop's HTTP app. It has the bus, one tool and the caller in its own process: `GET /stock/{item}` is a tool call.
 */
export async function startApp(stock: ReadonlyMap<string, number>): Promise<App> {
  const bus = createMemoryBus();
  const tool = defineTool(stockOf, async ({ item }) => {
    const count = stock.get(item) ?? 0;
    return { content: `${count} ${item}`, structured: { item, count } };
  });
  const service = await serveTools(bus, { tools: [tool] }, { service: "shop" });
  const caller = await createToolCaller(bus, { agent: "shop-app" });
  await caller.discovered();

  const server = createServer((request, response) => void answer(caller, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      for (const part of [caller, service, bus]) await part[Symbol.asyncDispose]();
    },
  };
}

async function answer(caller: ToolCaller, { url = "" }: IncomingMessage, response: ServerResponse): Promise<void> {
  const leaving = new AbortController();
  response.on("close", () => leaving.abort()); // a client that has left needs no answer: the tool is stopped
  const send = (status: number, body: unknown): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  try {
    const item = decodeURIComponent(url.replace(/^\/stock\//, ""));
    const { structured } = await caller.call("stock_of", { item }, { timeoutMs: 5_000, signal: leaving.signal });
    send(200, structured);
  } catch (error) {
    if (!(error instanceof ToolError)) send(400, { message: String(error) });
    else send(error.code === ToolErrorCode.InvalidArguments ? 400 : 503, { code: error.code, message: error.message });
  }
}
