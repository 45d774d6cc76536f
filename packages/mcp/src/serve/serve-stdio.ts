import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { ChangeWatch } from "./change-watch.ts";
import { createToolServer, type ToolServerOptions } from "./create-tool-server.ts";
import { StdioDoor, type StdioStreams } from "./door/stdio-door.ts";
import type { ToolSource } from "./tool-source.ts";

/** The tools to serve, the streams, and a way to hear of changes. */
export interface ServeToolsOverStdioOptions extends ToolServerOptions, StdioStreams {
  /** Calls `listener` after each change of the tools, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void;
}

/** An MCP server on stdin and stdout. Disposal ends it. */
export interface StdioToolServer extends AsyncDisposable {
  /** Resolves when the client has closed its end. Calls in flight are cancelled then. */
  readonly ended: Promise<void>;
}

/** Serves one client over two streams, in the protocol era that it opens with. */
export function serveToolsOverStdio(
  source: ToolSource,
  { input, output, onChange, ...options }: ServeToolsOverStdioOptions,
): StdioToolServer {
  const servers = new Set<Server>();
  const door = new StdioDoor({ input, output });
  const handle = serveStdio(
    () => {
      const server = createToolServer(source, options);
      servers.add(server);
      server.onclose = () => servers.delete(server);
      return server;
    },
    {
      transport: door,
      onerror: (error) => options.log.debug({ error: String(error) }, "an MCP message was refused or failed"),
    },
  );
  const watch = new ChangeWatch(() => servers.forEach((server) => void tell(server)));
  let off = (): void => {};
  let isClosed = false;
  const listen = () => {
    if (!isClosed) off = onChange(() => watch.note());
  };
  source.listTools().then(listen, listen); // what is found at the start is no change
  return {
    ended: door.ended,
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
