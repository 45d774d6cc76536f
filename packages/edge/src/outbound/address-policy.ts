import { BlockList, isIP } from "node:net";
import { isPublicAddress } from "./is-public-address.ts";

/** Decides where connections may go. */
export interface AddressPolicy {
  /** Tells whether some address of `host` could be permitted on `port`; asked before the look-up of its name. */
  permitsPort(host: string, port: number): boolean;
  /** Tells whether a connection to `address`, to which `host` resolved, may be made on `port`. */
  permits(target: { readonly host: string; readonly port: number; readonly address: string }): boolean;
  /** Tells whether an exception names `host` itself, on `port`. */
  names(host: string, port: number): boolean;
  readonly ports: readonly number[];
}

/** Which ports are allowed, and which addresses are exceptions. */
export interface AddressPolicyOptions {
  /** The ports on which public addresses may be reached. @default [80, 443, 8080, 8443] */
  readonly allowPorts?: readonly number[] | undefined;
  /**
   * Exceptions, each one of:
   * - `HOST:PORT`: whatever this host, written so in the URL, resolves to, on this port only;
   * - `IP:PORT`, `[IPV6]:PORT`, `CIDR:PORT`, `[IPV6CIDR]:PORT`: these addresses, under any name, on this port only;
   * - `CIDR` or `IP`: these addresses, under any name, on the ports of `allowPorts`.
   * The first two need not have their port in `allowPorts`.
   */
  readonly allowAddresses?: readonly string[] | undefined;
}

/** @throws {RangeError} if an exception cannot be read */
export function createAddressPolicy({
  allowPorts = [80, 443, 8080, 8443],
  allowAddresses = [],
}: AddressPolicyOptions = {}): AddressPolicy {
  const ports = new Set(allowPorts);
  const hosts = new Set<string>();
  const networks: { readonly port: number | undefined; readonly list: BlockList }[] = [];
  for (const text of allowAddresses) {
    const exception = parseException(text);
    if (exception === undefined) throw new RangeError(`Cannot use allowAddresses: ${addressFault(text)}`);
    if ("host" in exception) hosts.add(`${exception.host}:${exception.port}`);
    else networks.push(exception);
  }
  const names = (host: string, port: number): boolean => hosts.has(`${host.toLowerCase().replace(/\.$/, "")}:${port}`);

  return {
    ports: [...ports],
    names,
    permitsPort: (host, port) =>
      ports.has(port) || names(host, port) || networks.some((network) => network.port === port),
    permits({ host, port, address }) {
      const family = isIP(address);
      if (family === 0) return false;
      if (names(host, port)) return true;
      if (ports.has(port) && isPublicAddress(address)) return true;
      return networks.some(
        (network) =>
          (network.port ?? port) === port &&
          (network.port !== undefined || ports.has(port)) &&
          network.list.check(address, family === 4 ? "ipv4" : "ipv6"),
      );
    },
  };
}

type Exception =
  | { readonly host: string; readonly port: number }
  | { readonly list: BlockList; readonly port: number | undefined };

/** Why `text` is no exception to the rule, as the end of a sentence; undefined if it is one. */
export function addressFault(text: string): string | undefined {
  if (parseException(text) !== undefined) return undefined;
  return `expected HOST:PORT, IP:PORT, [IPV6]:PORT, CIDR or CIDR:PORT, got ${JSON.stringify(text.slice(0, 100))}`;
}

function parseException(text: string): Exception | undefined {
  const network = parseNetwork(text) ?? parseNetwork(/^\[(.*)\]$/.exec(text)?.[1] ?? "");
  if (network !== undefined) return { list: network, port: undefined };

  const [, rest = "", digits = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (rest === "" || port < 1 || port > 65_535) return undefined;
  const inner = /^\[(.*)\]$/.exec(rest)?.[1] ?? (rest.includes(":") && !rest.includes("/") ? "" : rest);
  const list = parseNetwork(inner);
  if (list !== undefined) return { list, port };
  if (!/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?$/i.test(inner) || /^[\d.]+$/.test(inner)) return undefined;
  return { host: inner.toLowerCase().replace(/\.$/, ""), port };
}

function parseNetwork(text: string): BlockList | undefined {
  const [, address = "", , digits] = /^([^/]+)(\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  if (family === 0 || address.includes("%")) return undefined;
  const longest = family === 4 ? 32 : 128;
  const prefix = digits === undefined ? longest : Number(digits);
  if (prefix > longest) return undefined;
  const list = new BlockList();
  list.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  return list;
}

/**
 * The exception of `allowAddresses` for an address that an operator's setting names.
 * @param baseUrl with scheme and host
 */
export function hostAndPort(baseUrl: string): string {
  const { hostname, port, protocol } = new URL(baseUrl);
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}
