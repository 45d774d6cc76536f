import type { Bus, Logger } from "@rockbot/bus";
import type { McpServerOptions } from "@rockbot/mcp";
import type { LeaseStore } from "@rockbot/records/leases";
import type { Identity } from "@rockbot/tools";
import type { BridgedServer } from "../bridged-server.ts";
import { handOverCalls } from "./hand-over-calls.ts";
import { NotTakenError } from "./hand-over-error.ts";
import { StatefulServer, type StatefulServerParts } from "./stateful-server.ts";
import { takeCalls } from "./take-calls.ts";

export interface StatefulServersOptions {
  readonly leases: LeaseStore;
  /** The name of this replica, unique to a running process. */
  readonly instance: string;
  readonly identity: Pick<Identity, "isFrom">;
  readonly drainMs: number;
  readonly log: Logger;
}

/** The servers with state, each of which one of several replicas has. */
export interface StatefulServers extends AsyncDisposable {
  start(options: McpServerOptions, parts: Pick<StatefulServerParts, "connect" | "follow">): BridgedServer;
  /**
   * The replica is being stopped: from now on counts what calls have left, those of other replicas too. Until the
   * servers are disposed of they are taken as before.
   */
  beginDrain(): void;
}

/** Resolves once calls of other replicas are taken. Disposed of after the servers. */
export async function startStatefulServers(
  bus: Bus,
  { leases, instance, identity, drainMs, log }: StatefulServersOptions,
): Promise<StatefulServers> {
  /** By name in lower case; the newest, where one is replaced by another. */
  const servers = new Map<string, StatefulServer>();
  await using started = new AsyncDisposableStack();
  const handOvers = started.use(await handOverCalls(bus, { instance, identity }));
  started.use(
    await takeCalls(bus, {
      instance,
      identity,
      drainMs,
      log,
      async call(server, tool, args, options) {
        const found = servers.get(server.toLowerCase());
        if (found === undefined) throw new NotTakenError("this replica does not know the server");
        return found.callOwn(tool, args, options);
      },
    }),
  );
  let entries = 0;
  let drainUntil = Number.POSITIVE_INFINITY;
  const drainLeftMs = (): number => Math.max(0, Math.min(drainMs, drainUntil - performance.now()));
  const running = started.move();
  return {
    start(options, parts) {
      const server = new StatefulServer(options, {
        ...parts,
        leases,
        handOvers,
        owner: `${instance}.${entries++}`,
        drainLeftMs,
        log,
      });
      servers.set(options.name.toLowerCase(), server);
      return server;
    },
    beginDrain() {
      drainUntil = Math.min(drainUntil, performance.now() + drainMs);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
