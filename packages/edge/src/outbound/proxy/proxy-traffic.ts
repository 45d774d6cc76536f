import type { Socket } from "node:net";
import type { Transform } from "node:stream";
import { type AddressPolicy, type AddressPolicyOptions, createAddressPolicy } from "../address-policy.ts";
import { BlockedAddressError, createGuardedConnect } from "../guarded-agent.ts";
import type { Lookup } from "../name-lookup.ts";
import { countBytes } from "./count-bytes.ts";

/** Which places may be reached, and how much may come. */
export interface ProxyTrafficOptions extends AddressPolicyOptions {
  /** @default createNameLookup() */
  readonly lookup?: Lookup | undefined;
  /** The timeout of look-up and connection, in milliseconds. @default 5_000 */
  readonly connectTimeoutMs?: number | undefined;
  /** A connection that is silent for so long ends, in milliseconds. @default 15_000 */
  readonly idleTimeoutMs?: number | undefined;
  /** All that may come, in bytes, tunnels included. Then every connection ends. @default 50_000_000 */
  readonly maxBytes?: number | undefined;
}

const MAX_DENIED = 100;

/** The connections of one proxy on both sides, and what they may reach and carry. */
export class ProxyTraffic {
  readonly #policy: AddressPolicy;
  readonly #open: ReturnType<typeof createGuardedConnect>;
  readonly #idleTimeoutMs: number;
  readonly #denied = new Set<string>();
  readonly #sockets = new Set<Socket>();
  #left: number;

  /** @throws {RangeError} if an exception of `allowAddresses` cannot be read */
  constructor(options: ProxyTrafficOptions) {
    const { lookup, connectTimeoutMs = 5_000, idleTimeoutMs = 15_000, maxBytes = 50_000_000 } = options;
    this.#policy = createAddressPolicy(options);
    this.#open = createGuardedConnect({ policy: this.#policy, lookup, connectTimeoutMs });
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#left = maxBytes;
  }

  /** Places that were refused, the first 100. */
  get denied(): readonly string[] {
    return [...this.#denied];
  }

  get isOverLimit(): boolean {
    return this.#left <= 0;
  }

  /** A connection to a place; 403 if policy forbids it, 502 if nobody is there. */
  async reach(place: URL | null): Promise<Socket | 403 | 502> {
    if (place === null) return 502;
    const { hostname, port: text } = place;
    const port = Number(text) || 80;
    if (!this.#policy.permitsPort(hostname.replace(/^\[|\]$/g, ""), port)) return this.#refuse(hostname, port);
    try {
      const socket = await this.#open({ hostname, port: String(port), protocol: "http:" });
      this.keep(socket);
      return socket;
    } catch (error) {
      return error instanceof BlockedAddressError ? this.#refuse(hostname, port) : 502;
    }
  }

  /** Ends a connection when it is silent for too long, and with all others. */
  keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setTimeout(this.#idleTimeoutMs, () => socket.destroy());
    socket.on("error", () => {}); // one side has left
    socket.once("close", () => this.#sockets.delete(socket));
    if (this.isOverLimit) socket.destroy();
  }

  /** What comes through it counts; beyond the bound every connection ends. */
  counted(): Transform {
    return countBytes((bytes) => {
      this.#left -= bytes;
      if (this.isOverLimit) this.end();
    });
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #refuse(hostname: string, port: number): 403 {
    if (this.#denied.size < MAX_DENIED) this.#denied.add(`${hostname.slice(0, 255)}:${port}`);
    return 403;
  }
}
