import { lookup as systemLookup } from "node:dns/promises";
import { createSemaphore } from "@rockbot/base";
import { queryAddresses } from "./query-addresses.ts";

/**
 * Gives all addresses of a host name.
 * @throws {NodeJS.ErrnoException} with code ENOTFOUND if it has none, EAI_AGAIN if that cannot be said now
 */
export type Lookup = (host: string, options: LookupOptions) => Promise<readonly string[]>;

export interface LookupOptions {
  readonly signal: AbortSignal;
  /** True if the operator has named this host: then all that this system knows counts, its hosts file too. */
  readonly isNamed: boolean;
}

export interface NameLookupOptions {
  /** Name servers, as `IP` or `IP:PORT`. @default the system's */
  readonly servers?: readonly string[] | undefined;
}

/** How many names are asked for at once; more wait. */
const MAX_IN_FLIGHT = 64;

/**
 * Looks names up by asking the name servers, not the system's resolver. The system's resolver holds a thread for each
 * name. Four names whose servers are silent stop every other look-up, decompression and file of the process.
 */
export function createNameLookup({ servers }: NameLookupOptions = {}): Lookup {
  const permits = createSemaphore(MAX_IN_FLIGHT);
  const named = new Map<string, Promise<string[]>>();

  /** However many ask for a host, it holds one thread; the operator names the hosts, so they are few. */
  async function lookUpNamed(host: string): Promise<string[]> {
    const asked = named.get(host);
    if (asked !== undefined) return await asked;
    const answer = systemLookup(host, { all: true }).then((found) => found.map(({ address }) => address));
    named.set(host, answer);
    try {
      return await answer;
    } finally {
      named.delete(host);
    }
  }

  return async (host, { signal, isNamed }) => {
    if (isNamed) return await lookUpNamed(host);
    // RFC 6761: such names are never asked of a server.
    if (/(?:^|\.)localhost\.?$/i.test(host)) return ["127.0.0.1", "::1"];
    using _permit = await permits.acquire(signal);
    return await queryAddresses(host, { servers, signal });
  };
}
