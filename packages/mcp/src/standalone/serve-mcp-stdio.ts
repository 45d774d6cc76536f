import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Logger, silentLogger } from "@rockbot/bus";
import type { ServedTools } from "./served-tool.ts";
import { toolServer } from "./tool-server.ts";

export interface ServeMcpStdioOptions {
  readonly input: Readable;
  /** Carries the protocol and nothing else: logs go elsewhere. */
  readonly output: Writable;
  readonly log?: Logger | undefined;
}

export interface McpStdioServer extends AsyncDisposable {
  /** Resolves when the client has closed its end. */
  readonly closed: Promise<void>;
}

/** No call of ours has arguments near this. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Serves tools to the one client at the other end of two streams, in the protocol era that it opens with. Calls end with the client. */
export function serveMcpStdio(served: ServedTools, { input, output, log = silentLogger }: ServeMcpStdioOptions): McpStdioServer {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  input.once("close", resolve).once("end", resolve);
  output.once("close", resolve).once("error", () => resolve());
  const handle = serveStdio(() => toolServer(served, log), {
    transport: new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES }),
    onerror: (error) => log.debug({ err: error }, "A message was not understood"),
  });
  return { closed, [Symbol.asyncDispose]: () => handle.close() };
}
