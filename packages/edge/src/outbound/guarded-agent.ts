import { isIP, type Socket } from "node:net";
import { within } from "@rockbot/base";
import { Agent, buildConnector } from "undici";
import type { AddressPolicy } from "./address-policy.ts";
import { createNameLookup, type Lookup } from "./name-lookup.ts";

interface GuardedConnectOptions {
  readonly policy: AddressPolicy;
  /** @default createNameLookup() */
  readonly lookup?: Lookup | undefined;
  /** The timeout of look-up, connection and TLS handshake together, in milliseconds. */
  readonly connectTimeoutMs: number;
}

export interface GuardedAgentOptions extends GuardedConnectOptions {
  /** The longest silence before and within an answer, in milliseconds. */
  readonly idleTimeoutMs: number;
  readonly maxHeaderBytes: number;
  /** The most connections to one host at a time. @default 8 */
  readonly connections?: number | undefined;
}

/** No address of the host may be connected to. */
export class BlockedAddressError extends Error {
  override readonly name = "BlockedAddressError";
}

/** The host was not reached in time. */
export class ConnectTimeoutError extends Error {
  override readonly name = "ConnectTimeoutError";
}

/**
 * Opens connections to permitted addresses.
 * @throws {BlockedAddressError}
 * @throws {ConnectTimeoutError} and what the system says
 */
type GuardedConnect = (options: Pick<buildConnector.Options, "hostname" | "protocol" | "port">) => Promise<Socket>;

/**
 * Connects to permitted addresses only. It looks names up itself, and drops the addresses that the policy does not
 * permit. Only the rest reaches the socket. So no second look-up happens, and an answer that changes between two
 * look-ups gains nothing.
 */
export function createGuardedConnect({
  policy,
  lookup = createNameLookup(),
  connectTimeoutMs,
}: GuardedConnectOptions): GuardedConnect {
  async function connect(options: buildConnector.Options): Promise<Socket> {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
    const started = performance.now();
    const addresses = isIP(host) === 0 ? await lookUp(host, port) : [host];
    const permitted = addresses.filter((address) => policy.permits({ host, port, address }));
    if (permitted.length === 0 && addresses.length > 0) throw new BlockedAddressError(host);
    const socket = await open(options, permitted, Math.max(1, connectTimeoutMs - (performance.now() - started)));
    // The socket is the last witness of where it went.
    if (!policy.permits({ host, port, address: socket.remoteAddress ?? "" })) {
      socket.destroy();
      throw new BlockedAddressError(host);
    }
    return socket;
  }

  async function lookUp(host: string, port: number): Promise<readonly string[]> {
    const late = new AbortController();
    try {
      const found = lookup(host, { signal: late.signal, isNamed: policy.names(host, port) });
      return await within(connectTimeoutMs, found, () => new ConnectTimeoutError(host));
    } finally {
      late.abort();
    }
  }

  return (options) => connect(options as buildConnector.Options);
}

/** An undici agent that connects to permitted addresses only. */
export function createGuardedAgent({
  idleTimeoutMs,
  maxHeaderBytes,
  connections = 8,
  ...options
}: GuardedAgentOptions): Agent {
  const connect = createGuardedConnect(options);
  return new Agent({
    connect: (options, callback) => {
      connect(options).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
    allowH2: false,
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    connections,
    keepAliveTimeout: 2_000,
    keepAliveMaxTimeout: 10_000,
  });
}

/** Connects to one of `addresses`, trying the next when one is slow to answer. */
function open(options: buildConnector.Options, addresses: readonly string[], timeout: number): Promise<Socket> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const connect = buildConnector({
    timeout,
    allowH2: false,
    autoSelectFamily: true,
    lookup: (host, { all }, callback) => {
      const [first] = found;
      if (first === undefined) callback(Object.assign(new Error(`no address for ${host}`), { code: "ENOTFOUND" }), "");
      else if (all) callback(null, found);
      else callback(null, first.address, first.family);
    },
  });
  return new Promise((resolve, reject) => {
    connect(options, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
  });
}
