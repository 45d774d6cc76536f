import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Logger, silentLogger } from "@rockbot/bus";
import { StdioDoor, type StdioStreams } from "../door/stdio-door.ts";
import type { ServedTools } from "./served-tool.ts";
import { toolServer } from "./tool-server.ts";

/** The streams of an MCP server, and where it reports. */
export interface ServeMcpStdioOptions extends StdioStreams {
  readonly log?: Logger | undefined;
}

/** An MCP server on stdin and stdout. Disposal ends it. */
export interface McpStdioServer extends AsyncDisposable {
  /** Resolves when the client has closed its end. */
  readonly ended: Promise<void>;
}

/**
 * Serves tools to the one client at the other end of two streams, in the protocol era that it opens with. Calls end
 * with the client.
 */
export function serveMcpStdio(
  served: ServedTools,
  { input, output, log = silentLogger }: ServeMcpStdioOptions,
): McpStdioServer {
  const door = new StdioDoor({ input, output });
  const handle = serveStdio(() => toolServer(served, log), {
    transport: door,
    onerror: (error) => log.debug({ err: error }, "could not read a message"),
  });
  return { ended: door.ended, [Symbol.asyncDispose]: () => handle.close() };
}
