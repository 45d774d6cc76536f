/**
 * Tells whether an entry allows the address: a host, or `*.` and a domain for all hosts below it, each with a port if
 * it is not 443.
 */
export function isHostAllowed(url: string, hosts: readonly string[]): boolean {
  const { hostname, port } = new URL(url);
  return hosts.some((entry) => {
    const [host = "", entryPort = "443"] = entry.toLowerCase().split(":");
    if ((port || "443") !== entryPort) return false;
    return host.startsWith("*.")
      ? hostname.endsWith(host.slice(1)) && hostname.length > host.length - 1
      : hostname === host;
  });
}

/** The ports that the entries name. */
export const portsOf = (hosts: readonly string[]): readonly number[] => [
  ...new Set([443, ...hosts.map((entry) => Number(entry.split(":")[1] ?? 443))]),
];
