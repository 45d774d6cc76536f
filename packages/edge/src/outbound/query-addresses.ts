import { Resolver } from "node:dns/promises";

export interface QueryAddressesOptions {
  /** Name servers, as `IP` or `IP:PORT`. @default the system's */
  readonly servers?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks the name servers for the IPv4 and IPv6 addresses of `host`. Aborting ends the queries. The resolver is made for
 * one name, since only a resolver as a whole can be cancelled.
 * @throws {NodeJS.ErrnoException} with code ENOTFOUND if the host has no address, EAI_AGAIN if the servers do not say;
 * or the signal's reason
 */
export async function queryAddresses(host: string, { servers, signal }: QueryAddressesOptions): Promise<string[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: 1_000, tries: 2 }); // the second try is for a lost packet
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal.throwIfAborted();
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length === 0)
      throw lookupError(
        host,
        answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : [])),
      );
    return addresses;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Codes that say that a server knows no such name, or no address for it. */
const noAddress: ReadonlySet<string | undefined> = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

/** In the codes of the system's resolver: a name server that refuses a connection is not the host that does. */
function lookupError(host: string, causes: readonly NodeJS.ErrnoException[]): NodeJS.ErrnoException {
  const unclear = causes.find(({ code }) => !noAddress.has(code));
  return Object.assign(new Error(`Cannot look up ${host}`, { cause: unclear ?? causes[0] }), {
    code: unclear === undefined ? "ENOTFOUND" : "EAI_AGAIN",
  });
}
