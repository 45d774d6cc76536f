import { chmodSync, rmSync } from "node:fs";
import type { Bus } from "@rockbot/bus";
import { createGatewayApp, type GatewayAppOptions, type HttpApp, serveHttp } from "@rockbot/gateway";
import type { ToolCaller } from "@rockbot/tools";
import { CommandError } from "../command-error.ts";
import { createOperatorApp, OPERATOR_PATH } from "../dlq/operator-app.ts";
import { isLiveSocket } from "./is-live-socket.ts";

export interface ServeSocketOptions extends Pick<GatewayAppOptions, "log" | "notReady"> {
  /** How long disposal waits for running requests, in milliseconds. */
  readonly drainMs: number;
  readonly signal: AbortSignal;
}

/** @throws {CommandError} if a running `rockbot up` has the socket */
export async function refuseSecondUp(path: string): Promise<void> {
  if (await isLiveSocket(path))
    throw new CommandError(
      `Cannot start: another "rockbot up" runs and listens on ${path}. Stop it, or give this one a folder of its own by ROCKBOT_RUNTIME_DIR`,
    );
}

/**
 * Serves the gateway's protocol on a unix socket that only this user can open, so without a token, and beside it what is
 * for operators only. Replaces the socket of a process that is dead.
 * @throws {CommandError} if a running `rockbot up` has the socket
 */
export async function serveSocket(
  path: string,
  { bus, caller }: { readonly bus: Bus; readonly caller: ToolCaller },
  { drainMs, signal, log, notReady }: ServeSocketOptions,
): Promise<AsyncDisposable> {
  await refuseSecondUp(path);
  rmSync(path, { force: true });
  const drainOver = new AbortController();
  const gateway = createGatewayApp(caller, { signal: drainOver.signal, log, notReady });
  const operator = createOperatorApp({ bus, caller }, { signal: drainOver.signal, log });
  const app: HttpApp = {
    fetch: (request, env) => (new URL(request.url).pathname.startsWith(OPERATOR_PATH) ? operator.fetch(request, env) : gateway.fetch(request, env)),
  };
  const server = await serveHttp(app, { path }, { drainMs, signal, onDrainOver: () => drainOver.abort() });
  chmodSync(path, 0o600);
  return server;
}
