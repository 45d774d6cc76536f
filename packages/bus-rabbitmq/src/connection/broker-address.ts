import { registerUrlSecret } from "@rockbot/base/redaction";
import type { Options } from "amqplib";

/** Where the broker is and as whom to connect. */
export interface BrokerAddress {
  /** For amqplib: an object, so that no error of it can hold the address as text with the password in it. */
  readonly connect: Options.Connect;
  readonly user: string;
  /** The address without user and password: what logs and errors say. */
  readonly label: string;
}

/** A cluster of more nodes than this is none that anybody runs. */
const MAX_NODES = 16;

/**
 * Reads `amqp://user:password@host:port/vhost`, or `amqps://…`; guest with password guest and the virtual host `/`
 * where nothing is said. The nodes of a cluster stand side by side: `amqp://user:password@one:5672,two:5672/vhost`. The
 * password becomes one of the process's secrets.
 * @returns one address for each node
 * @throws {RangeError} if the text is no such address; the error never holds the text, which may have a password in it
 */
export function parseBrokerAddresses(url: string): readonly [BrokerAddress, ...BrokerAddress[]] {
  const [, before = "", nodes = url, after = ""] = /^([^:/?#]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const [first = "", ...others] = nodes.split(",");
  if (others.length >= MAX_NODES)
    throw new RangeError(
      `Cannot use a broker's address with ${others.length + 1} nodes: at most ${MAX_NODES} are tried`,
    );
  return [
    parseBrokerAddress(before + first + after),
    ...others.map((node) => parseBrokerAddress(before + node + after)),
  ];
}

function parseBrokerAddress(url: string): BrokerAddress {
  registerUrlSecret(url);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== "amqp:" && parsed.protocol !== "amqps:") || parsed.hostname === "") {
    throw new RangeError(
      "Cannot read the broker's address: expected amqp://user:password@host:port/vhost, or amqps://…",
    );
  }
  if (parsed.search !== "")
    throw new RangeError(
      "Cannot use a broker's address with a query (?…): heartbeat and the like are options of the bus",
    );
  const protocol = parsed.protocol === "amqps:" ? "amqps" : "amqp";
  const port = parsed.port === "" ? (protocol === "amqps" ? 5671 : 5672) : Number(parsed.port);
  const hostname = parsed.hostname.replace(/^\[|\]$/g, "");
  const user = decode(parsed.username) || "guest";
  const password = parsed.username === "" && parsed.password === "" ? "guest" : decode(parsed.password);
  return {
    // amqplib decodes the virtual host itself, so it is passed as it stands in the address.
    connect: { protocol, hostname, port, username: user, password, vhost: parsed.pathname.slice(1) || "/" },
    user,
    label: `${protocol}://${parsed.hostname}:${port}${parsed.pathname === "" ? "/" : parsed.pathname}`,
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError(
      "Cannot read the broker's address: user or password has a % that is not an escape; write it as %25",
    );
  }
}
