import { chmodSync, rmSync } from "node:fs";
import { createGatewayApp, type GatewayAppOptions, serveHttp } from "@rockbot/gateway";
import type { ToolCaller } from "@rockbot/tools";
import { CommandError } from "../command-error.ts";
import { isLiveSocket } from "./is-live-socket.ts";
import { addCallRoutes } from "./operator-calls.ts";

export interface ServeSocketOptions extends Pick<GatewayAppOptions, "log" | "notReady"> {
  /** How long disposal waits for running requests, in milliseconds. */
  readonly drainMs: number;
  readonly signal: AbortSignal;
  /** Of all callers in this process, for the operator. */
  readonly journals: readonly ToolCaller["journal"][];
}

/** @throws {CommandError} if a running `rockbot up` has the socket */
export async function refuseSecondUp(path: string): Promise<void> {
  if (await isLiveSocket(path))
    throw new CommandError(
      `Cannot start: another "rockbot up" runs and listens on ${path}. Stop it, or give this one a folder of its own by ROCKBOT_RUNTIME_DIR`,
    );
}

/**
 * Serves the gateway's protocol, and what only an operator may ask for, on a unix socket that only this user can open, so without a token. Replaces the socket
 * of a process that is dead.
 * @throws {CommandError} if a running `rockbot up` has the socket
 */
export async function serveSocket(
  path: string,
  caller: ToolCaller,
  { drainMs, signal, journals, log, notReady }: ServeSocketOptions,
): Promise<AsyncDisposable> {
  await refuseSecondUp(path);
  rmSync(path, { force: true });
  const drainOver = new AbortController();
  const app = createGatewayApp(caller, { signal: drainOver.signal, log, notReady });
  addCallRoutes(app, journals);
  const server = await serveHttp(app, { path }, { drainMs, signal, onDrainOver: () => drainOver.abort() });
  chmodSync(path, 0o600);
  return server;
}
