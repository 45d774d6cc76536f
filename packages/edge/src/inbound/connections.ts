import type { Socket } from "node:net";
import { metrics } from "@opentelemetry/api";
import { type AddressList, networkOf } from "./addresses.ts";

export interface ConnectionBounds {
  /** The most connections in all. */
  readonly maxOpen: number;
  /** The most strangers' connections from one address. @default 128 */
  readonly strangersPerAddress?: number | undefined;
  /** The proxies that stand in front of many clients: the bound per address does not hold for them. @default none */
  readonly proxies?: AddressList | undefined;
}

interface Connection {
  readonly socket: Socket;
  /** The name that the connection is counted under. */
  readonly network: string;
  /** Monotonic milliseconds. */
  readonly openedAt: number;
  isStranger: boolean;
  running: number;
}

/**
 * The least age of a connection that is closed for being one too many of its address. A client that opens many at once
 * to use them has them longer by then.
 */
const GRACE_MS = 500;

/**
 * The connections of a server. One is a stranger's until a request on it is let in. When there is no room, a newcomer
 * gets the place of the connection that it harms least. It is the oldest one of the network with the most strangers,
 * which has had the longest time to say something. Where there are no strangers, it is the one let in that has been
 * idle for longest. So a client that floods the server takes places from itself, and only requests that run can fill
 * the server.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #open = new Map<Socket, Connection>();
  /** The strangers' connections by network, the oldest first. */
  readonly #strangers = new Map<string, Set<Connection>>();
  /** Let in, and without a request; the longest idle first. */
  readonly #idle = new Set<Connection>();
  readonly #closed = metrics.getMeter("@rockbot/inbound").createCounter("rockbot.inbound.closed.connections", {
    description: "Connections closed to make room for newer ones, by reason.",
  });

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  add(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const connection: Connection = {
      socket,
      network: networkOf(address),
      openedAt: performance.now(),
      isStranger: true,
      running: 0,
    };
    if (!this.#bounds.proxies?.has(address)) this.#thin(connection.network);
    if (this.#open.size >= this.#bounds.maxOpen) this.#close(this.#leastHarmed() ?? connection, "full");
    if (socket.destroyed) return;
    this.#open.set(socket, connection);
    const strangers = this.#strangers.get(connection.network) ?? new Set();
    this.#strangers.set(connection.network, strangers.add(connection));
    socket.once("close", () => this.#forget(connection));
  }

  /** Says that a request on the connection is let in. */
  letIn(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    this.#leaveStrangers(connection);
    connection.isStranger = false;
  }

  begin(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.running++;
    this.#idle.delete(connection);
  }

  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.running--;
    if (connection.running === 0 && !connection.isStranger) this.#idle.add(connection);
  }

  /** Tells whether a request that was let in runs on it. */
  isWorking(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    return connection !== undefined && !connection.isStranger && connection.running > 0;
  }

  /** Makes room among the strangers of a network. */
  #thin(network: string): void {
    const { strangersPerAddress = 128 } = this.#bounds;
    const strangers = this.#strangers.get(network) ?? new Set();
    const before = performance.now() - GRACE_MS;
    for (const oldest of strangers) {
      if (strangers.size < strangersPerAddress || oldest.openedAt > before) return;
      this.#close(oldest, "many_of_one_address");
    }
  }

  #leastHarmed(): Connection | undefined {
    let most: Set<Connection> | undefined;
    for (const strangers of this.#strangers.values()) if (strangers.size > (most?.size ?? 0)) most = strangers;
    const [victim] = most ?? this.#idle;
    return victim;
  }

  #close(connection: Connection, reason: "full" | "many_of_one_address"): void {
    this.#closed.add(1, { reason });
    connection.socket.destroy();
    this.#forget(connection); // its event comes later
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection.socket);
    this.#idle.delete(connection);
    this.#leaveStrangers(connection);
  }

  #leaveStrangers(connection: Connection): void {
    const strangers = this.#strangers.get(connection.network);
    if (strangers?.delete(connection) && strangers.size === 0) this.#strangers.delete(connection.network);
  }
}
