import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { ChangeWatch } from "./change-watch.ts";
import { createToolServer, type ToolServerOptions } from "./create-tool-server.ts";
import type { ToolSource } from "./tool-source.ts";

export interface ServeToolsOverStdioOptions extends ToolServerOptions {
  readonly input: Readable;
  /** Nothing but the protocol goes there. */
  readonly output: Writable;
  /** Calls `listener` after each change of the tools, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void;
}

export interface StdioToolServer extends AsyncDisposable {
  /** Resolves when the client has closed its end, or sent what cannot be read. Calls in flight are cancelled then. */
  readonly ended: Promise<void>;
}

/** A message holds at most 1 MiB of arguments. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

/** Serves one client over two streams, in the protocol era that it opens with. */
export function serveToolsOverStdio(source: ToolSource, { input, output, onChange, ...options }: ServeToolsOverStdioOptions): StdioToolServer {
  const ended = Promise.withResolvers<void>();
  const servers = new Set<Server>();
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  const handle = serveStdio(
    () => {
      const server = createToolServer(source, options);
      servers.add(server);
      server.onclose = () => servers.delete(server);
      return server;
    },
    { transport, onerror: (error) => options.log.debug({ error: String(error) }, "an MCP message was refused or failed") },
  );
  const onclose = transport.onclose;
  transport.onclose = () => {
    onclose?.();
    ended.resolve();
  };
  const watch = new ChangeWatch(() => servers.forEach((server) => void tell(server)));
  let off = (): void => {};
  let isClosed = false;
  const listen = () => {
    if (!isClosed) off = onChange(() => watch.note());
  };
  source.listTools().then(listen, listen); // what is found at the start is no change
  return {
    ended: ended.promise,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      off();
      watch[Symbol.dispose]();
      await handle.close();
    },
  };
}

async function tell(server: Server): Promise<void> {
  try {
    await server.sendToolListChanged();
    await server.sendPromptListChanged();
    await server.sendResourceListChanged();
  } catch {
    // a client that is gone needs no news
  }
}
