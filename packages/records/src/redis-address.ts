import { registerUrlSecret } from "@rockbot/base/redaction";

/** Where Redis is and as whom to connect. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  /** The number of the database. */
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  readonly isTls: boolean;
  /** The address without user and password: what logs and errors say. */
  readonly label: string;
}

/**
 * Reads `redis://user:password@host:port/database`, or `rediss://…`; user, password, port and database may be left out. The
 * password becomes one of the process's secrets.
 * @throws {RangeError} if the text is no such address; the error never holds the text, which may have a password in it
 */
export function parseRedisAddress(url: string): RedisAddress {
  registerUrlSecret(url);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== "redis:" && parsed.protocol !== "rediss:") || parsed.hostname === "") {
    throw new RangeError("Cannot read the address of Redis: expected redis://user:password@host:port/database, or rediss://…");
  }
  if (parsed.search !== "" || parsed.hash !== "") throw new RangeError("Cannot use an address of Redis with a query (?…) or fragment (#…)");
  const database = parsed.pathname.slice(1);
  if (!/^\d{0,5}$/.test(database)) throw new RangeError("Cannot read the address of Redis: its path must be the number of a database");
  const port = parsed.port === "" ? 6379 : Number(parsed.port);
  const db = Number(database);
  const [username, password] = [decode(parsed.username), decode(parsed.password)];
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ""),
    port,
    db,
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
    isTls: parsed.protocol === "rediss:",
    label: `${parsed.protocol}//${parsed.hostname}:${port}/${db}`,
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError("Cannot read the address of Redis: user or password has a % that is no escape; write it as %25");
  }
}
