import { within } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { BlockedAddressError, guardedFetch } from "@rockbot/edge/outbound";
import { McpServer } from "@rockbot/mcp";
import type { BridgedServerOptions } from "../bridged-server.ts";

/** For looking the host up, and for the server to start and list its tools; the agent waits 30 s. */
const TRIAL_MS = 15_000;
const LOOK_MS = 5_000;

/**
 * Connects to a server and lists its tools, once, then leaves it.
 * @throws {ToolError} `denied` if its address may not be connected to, `unavailable` if it cannot be reached now
 */
export async function tryServer(options: BridgedServerOptions, log: Logger): Promise<void> {
  await lookAtAddress(options);
  await using server = new McpServer(options, { log, backOffMs: [2 * TRIAL_MS] });
  const settled = Promise.withResolvers<void>();
  const look = (): void => {
    if (server.health.state === "ready" || server.health.failures > 0) settled.resolve();
  };
  const off = server.onChange(look);
  look();
  await within(TRIAL_MS, settled.promise, () => new Error("it takes too long")).catch(() => {});
  off();
  // Why it failed is the operator's to read: a program may have written anything.
  if (server.health.state !== "ready") throw unavailable(options.name, "it does not start, or is no MCP server");
}

/**
 * A guard refuses each connection to a forbidden address; here the error differs from that of a server that is away.
 */
async function lookAtAddress({ name, address }: BridgedServerOptions): Promise<void> {
  if (address.type === "stdio" || address.guard === undefined) return;
  try {
    const response = await guardedFetch(address.guard)(address.url, {
      method: "HEAD",
      signal: AbortSignal.timeout(LOOK_MS),
    });
    await response.body?.cancel();
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof BlockedAddressError)
      throw new ToolError(
        ToolErrorCode.Denied,
        `Cannot register the server "${name}": its host has no address on the public Internet, and only such are connected to.`,
      );
    if (cause instanceof Error && /redirect/i.test(cause.message))
      throw new ToolError(
        ToolErrorCode.Denied,
        `Cannot register the server "${name}": its address leads to another one. Ask for that one, if it is allowed.`,
      );
    throw unavailable(name, "its host does not answer");
  }
}

const unavailable = (name: string, why: string): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `Cannot register the server "${name}": ${why}. Nothing was kept. Look at its address, or try again later.`,
  );
