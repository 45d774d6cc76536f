import type { McpServerSummary, McpServersIndexed } from "@rockbot/contracts";

/** More would not be read by a model anyway; bounds what a flood of messages can fill. */
const MAX_SERVERS = 1_000;

/** The MCP servers that an agent has heard of. Case does not matter in their names. */
export class ServerIndex {
  #servers = new Map<string, McpServerSummary>();
  #canRegister = false;
  /** The numbers of the newest whole index. */
  #newest = { epoch: -1, sequence: -1 };

  get servers(): readonly McpServerSummary[] {
    return [...this.#servers.values()].sort((a, b) => (a.serverName < b.serverName ? -1 : 1));
  }

  /** True if the bridge's newest whole index says that it takes requests for further servers. */
  get canRegister(): boolean {
    return this.#canRegister;
  }

  find(serverName: string): McpServerSummary | undefined {
    return this.#servers.get(serverName.toLowerCase());
  }

  /**
   * Takes in a message: removals first, then the others. A whole index replaces all, unless it is older than one that
   * was heard.
   */
  apply({
    servers,
    removedServers = [],
    isSnapshot = false,
    epoch = 0,
    sequence = 0,
    canRegister = false,
  }: McpServersIndexed): void {
    if (isSnapshot) {
      if (epoch < this.#newest.epoch || (epoch === this.#newest.epoch && sequence < this.#newest.sequence)) return;
      this.#newest = { epoch, sequence };
      this.#servers = new Map();
      this.#canRegister = canRegister;
    }
    for (const name of removedServers) this.#servers.delete(name.toLowerCase());
    for (const server of servers) {
      const key = server.serverName.toLowerCase();
      if (this.#servers.size < MAX_SERVERS || this.#servers.has(key)) this.#servers.set(key, server);
    }
  }
}
