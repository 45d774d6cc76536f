import type { JSONRPCMessage } from "@modelcontextprotocol/client";

/** A stream of changes is no question: it lasts. */
const LISTEN = "subscriptions/listen";

/** The requests that a server got and has not answered. */
export class AskedRequests {
  readonly #ids = new Set<unknown>();

  sent(message: JSONRPCMessage): void {
    if (!("method" in message) || message.method === LISTEN) return;
    if (message.method === "notifications/cancelled") this.#ids.delete(message.params?.["requestId"]);
    else if ("id" in message) this.#ids.add(message.id);
  }

  heard(message: JSONRPCMessage): void {
    if (!("method" in message)) this.#ids.delete(message.id);
  }

  forget(id: unknown): void {
    this.#ids.delete(id);
  }

  has(id: unknown): boolean {
    return this.#ids.has(id);
  }

  /** The one that an answer without an id must mean; undefined if it may mean several. */
  get only(): unknown {
    const [first] = this.#ids;
    return this.#ids.size === 1 ? first : undefined;
  }
}
