import type { BridgedServerOptions } from "../bridged-server.ts";
import type { ServerPool } from "../servers/server-pool.ts";

/** The servers of the operator's file, and beside them those that agents have registered. */
export class ServerSources {
  readonly #pool: ServerPool;
  #filed: readonly BridgedServerOptions[] = [];
  #registered: readonly BridgedServerOptions[] = [];

  constructor(pool: ServerPool) {
    this.#pool = pool;
  }

  get servers(): ServerPool["servers"] {
    return this.#pool.servers;
  }

  /** Names of the file's servers. */
  get filed(): readonly string[] {
    return this.#filed.map(({ name }) => name);
  }

  /** From now on these are the file's servers. A name that the file has is not an agent's any more. */
  apply(filed: readonly BridgedServerOptions[]): void {
    this.#filed = filed;
    this.#merge();
  }

  applyRegistered(registered: readonly BridgedServerOptions[]): void {
    this.#registered = registered;
    this.#merge();
  }

  #merge(): void {
    const names = new Set(this.#filed.map(({ name }) => name.toLowerCase()));
    this.#pool.apply([...this.#filed, ...this.#registered.filter(({ name }) => !names.has(name))]);
  }
}
