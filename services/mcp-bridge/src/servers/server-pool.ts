import { createSemaphore, within } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { CallLimit, McpServer, type McpServerParts } from "@rockbot/mcp";
import type { BridgedServer, BridgedServerOptions } from "../bridged-server.ts";
import type { StatefulServers } from "../stateful/stateful-servers.ts";
import type { ToolTrust } from "../trust/tool-trust.ts";

export interface ServerPoolOptions extends Pick<McpServerParts, "backOffMs"> {
  /** How many servers are being started or connected at once. */
  readonly initConcurrency: number;
  /** How long calls in flight on a server that is taken away may go on. */
  readonly drainMs: number;
  /** Says which tools are offered. @default all */
  readonly trust?: Pick<ToolTrust, "screenOf" | "follow" | "refusalOn" | "forget"> | undefined;
  /** Starts servers with state where several replicas share leases. @default each replica has them to itself */
  readonly stateful?: StatefulServers | undefined;
  readonly log: Logger;
}

/** The servers there are. Each lives by itself: one that fails neither delays nor stops another. */
export class ServerPool implements AsyncDisposable {
  readonly #options: ServerPoolOptions;
  /** By name in lower case, in the order in which they were given. */
  #servers = new Map<string, { readonly options: BridgedServerOptions; readonly server: BridgedServer }>();
  /** The queues that servers share, by name and limits. */
  #queues = new Map<string, CallLimit>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #listeners = new Set<(removed: readonly string[]) => void>();
  readonly #admit: NonNullable<McpServerParts["admit"]>;
  /** True to write the frames of all servers to the log. */
  tracesAll = false;

  constructor(options: ServerPoolOptions) {
    this.#options = options;
    const semaphore = createSemaphore(options.initConcurrency);
    this.#admit = (signal) => semaphore.acquire(signal);
  }

  get servers(): readonly BridgedServer[] {
    return [...this.#servers.values()].map(({ server }) => server);
  }

  /** Case does not matter. */
  find(name: string): BridgedServer | undefined {
    return this.#servers.get(name.toLowerCase())?.server;
  }

  /** What is said of the server of that name; case does not matter. */
  optionsOf(name: string): BridgedServerOptions | undefined {
    return this.#servers.get(name.toLowerCase())?.options;
  }

  /**
   * Calls `listener` whenever servers, their tools or their states have changed, until the returned function is called.
   */
  onChange(listener: (removed: readonly string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** From now on these are the servers. What has not changed stays connected; calls in flight on what has finish. */
  apply(wanted: readonly BridgedServerOptions[]): void {
    const before = this.#servers;
    const next: typeof before = new Map();
    for (const options of wanted) {
      const key = options.name.toLowerCase();
      const known = before.get(key);
      const isKept = known !== undefined && identityOf(known.options) === identityOf(options);
      next.set(key, { options, server: isKept ? known.server : this.#start(options) });
    }
    this.#servers = next;
    const used = new Set(wanted.map(({ queueName, queue }) => JSON.stringify([queueName, queue])));
    this.#queues = new Map([...this.#queues].filter(([key]) => used.has(key)));
    const removed: string[] = [];
    for (const [key, { server }] of before) {
      if (next.get(key)?.server === server) continue;
      if (!next.has(key)) {
        removed.push(server.name);
        this.#options.trust?.forget(server.name);
      }
      this.#leave(server);
    }
    this.#changed(removed);
  }

  /** Resolves once no server is connecting for the first time, at most `ms` milliseconds later. */
  async settled(ms: number): Promise<void> {
    const isSettled = (): boolean =>
      this.servers.every(({ health }) => health.state === "ready" || health.failures > 0);
    const settled = Promise.withResolvers<void>();
    const off = this.onChange(() => isSettled() && settled.resolve());
    if (!isSettled())
      await within(ms, settled.promise, () => new Error("servers are still connecting")).catch(() => {});
    off();
  }

  /** What is approved may be something else by now. */
  async screenAgain(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.screenAgain()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.servers.map((server) => server[Symbol.asyncDispose]()), ...this.#leaving]);
  }

  #start(options: BridgedServerOptions): BridgedServer {
    const { log, backOffMs, stateful, trust } = this.#options;
    const refusal = trust && ((toolName: string) => trust.refusalOn(options.name, toolName));
    const isTraced = () => this.tracesAll || this.optionsOf(options.name)?.isTraced === true;
    const connect = (): McpServer =>
      new McpServer(options, {
        log,
        backOffMs,
        admit: this.#admit,
        isTraced,
        limit: this.#queueOf(options),
        screen: trust?.screenOf(options),
        refusal,
      });
    const follow = async (): Promise<void> => trust?.follow(options);
    const server =
      options.isStateful === true && stateful !== undefined ? stateful.start(options, { connect, follow }) : connect();
    server.onChange(() => this.#changed([]));
    return server;
  }

  #queueOf({ queueName, queue }: BridgedServerOptions): CallLimit | undefined {
    if (queueName === undefined || queue === undefined) return undefined;
    const key = JSON.stringify([queueName, queue]);
    const shared = this.#queues.get(key) ?? new CallLimit(queue);
    this.#queues.set(key, shared);
    return shared;
  }

  #leave(server: BridgedServer): void {
    const left = server.retire(this.#options.drainMs).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  #changed(removed: readonly string[]): void {
    for (const listener of [...this.#listeners]) listener(removed);
  }
}

/** What a server is connected anew for when it changes. */
const identityOf = (options: BridgedServerOptions): string => JSON.stringify({ ...options, isTraced: undefined });
