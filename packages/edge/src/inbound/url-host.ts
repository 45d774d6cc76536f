import { isIPv6 } from "node:net";

/** A name or an address as it stands in a URL and in a Host header. */
export const urlHost = (host: string): string => (isIPv6(host) ? `[${host}]` : host);
