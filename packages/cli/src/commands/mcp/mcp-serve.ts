import { version } from "@rockbot/base/version";
import { silentLogger } from "@rockbot/bus";
import { serveToolsOverStdio } from "@rockbot/mcp/serve";
import { busUrlFaults, chooseBusUrl } from "../../bus-url.ts";
import { offeredTools } from "../../client/offered-tools.ts";
import { openToolClient } from "../../client/open-tool-client.ts";
import { interruption } from "../../terminal/interruption.ts";
import { UsageError } from "../../usage-error.ts";

export interface McpServeOptions {
  readonly bus?: string;
  readonly mcpConfig?: string;
  readonly policy?: string;
  readonly allowAddress?: readonly string[];
}

/**
 * `rockbot mcp serve`: the tools as an MCP server on stdin and stdout, until the client closes its end. Words for
 * people go to stderr.
 */
export async function serveMcp({ bus, mcpConfig, policy, allowAddress = [] }: McpServeOptions): Promise<void> {
  const { env, stdin, stdout } = process;
  const faults = busUrlFaults(chooseBusUrl(bus, env));
  if (faults.length > 0) throw new UsageError(faults);
  using interrupted = interruption();
  await using client = await openToolClient({ bus, allowAddress, mcpConfig, policy, env });
  await using server = serveToolsOverStdio(offeredTools(client), {
    input: stdin,
    output: stdout,
    onChange: (listener) => client.onChange(listener),
    version,
    log: silentLogger,
  });
  console.error(`rockbot: an MCP server on stdin and stdout; the tools are run by ${client.where}`);
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  interrupted.signal.addEventListener("abort", () => stop(), { once: true });
  await Promise.race([server.ended, stopped]);
}
