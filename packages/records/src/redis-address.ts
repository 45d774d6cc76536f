import { registerUrlSecret } from "@rockbot/base/redaction";

/** Where Redis is and as whom to connect. */
export interface RedisAddress {
  /** The host, or the first Sentinel's. */
  readonly host: string;
  readonly port: number;
  /** The number of the database. */
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  readonly isTls: boolean;
  /** Who says which Redis is the master, and moves that to another where it fails. */
  readonly sentinels?: RedisSentinels;
  /** Reads the address again: its password may have changed. */
  readonly again?: () => RedisAddress;
  /** The address without user and password: what logs and errors say. */
  readonly label: string;
}

/** The Sentinels that watch a master. */
export interface RedisSentinels {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** The name that they know the master by. */
  readonly master: string;
  /** True if they need no user and password. Else they ask for those of Redis. */
  readonly isOpen: boolean;
}

/** The address of a Redis, or what reads it anew for each connection. */
export type RedisUrl = string | (() => string);

const SCHEME = /^redis(s?)(\+sentinel)?:$/;
/** More Sentinels than this are none that anybody runs. */
const MAX_SENTINELS = 16;
const EXPECTED =
  "expected redis://user:password@host:port/database, redis+sentinel://user:password@one:26379,two,three/master/database, or rediss…";

/**
 * Reads `redis://user:password@host:port/database`, or `rediss://…`; user, password, port and database may be left out.
 * With Sentinels it is `redis+sentinel://user:password@one:26379,two,three/master/database`: user and password are
 * shown to them as to Redis, or to Redis alone if `?sentinels=open` stands at the end. The password becomes one of the
 * process's secrets.
 * @throws {RangeError} if the text is no such address; the error never holds the text, which may have a password in it
 */
export function parseRedisAddress(url: RedisUrl): RedisAddress {
  if (typeof url === "function") return { ...parseRedisAddress(url()), again: () => parseRedisAddress(url()) };
  const [, before = "", nodes = "", after = ""] = /^([^:/?#]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const [first = "", ...others] = nodes.split(",");
  registerUrlSecret(`${before}host`);
  const parsed = URL.parse(before + first + after);
  const [, tls, sentinel] = SCHEME.exec(parsed?.protocol ?? "") ?? [];
  if (parsed === null || tls === undefined || parsed.hostname === "")
    throw new RangeError(`Cannot read the address of Redis: ${EXPECTED}`);
  if (sentinel === undefined && others.length > 0)
    throw new RangeError(`Cannot use an address of Redis with several hosts but with Sentinels: ${EXPECTED}`);
  if (parsed.hash !== "" || (parsed.search !== "" && (sentinel === undefined || parsed.search !== "?sentinels=open"))) {
    throw new RangeError("Cannot use an address of Redis with a query (?…) or fragment (#…)");
  }
  const path = parsed.pathname.split("/").slice(1);
  const master = sentinel === undefined ? undefined : decode(path.shift() ?? "");
  const [database = "", ...rest] = path;
  if (!/^\d{0,5}$/.test(database) || rest.length > 0)
    throw new RangeError("Cannot read the address of Redis: its path must end in the number of a database");
  const db = Number(database);
  const [username, password] = [decode(parsed.username), decode(parsed.password)];
  const place = {
    db,
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
    isTls: tls === "s",
  };
  if (master === undefined) {
    const { host, port } = nodeOf(parsed, 6379);
    return { host, port, ...place, label: `${parsed.protocol}//${parsed.hostname}:${port}/${db}` };
  }
  if (!/^[\w.-]{1,64}$/.test(master))
    throw new RangeError(`Cannot read the address of Redis: its path must begin with the master's name (${EXPECTED})`);
  if (others.length >= MAX_SENTINELS)
    throw new RangeError(
      `Cannot use an address of Redis with ${others.length + 1} Sentinels: at most ${MAX_SENTINELS} are asked`,
    );
  const all = [parsed, ...others.map(sentinelUrl)].map((node) => nodeOf(node, 26379));
  const label = `${parsed.protocol}//${all.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`).join(",")}/${master}/${db}`;
  return { ...nodeOf(parsed, 26379), ...place, sentinels: { nodes: all, master, isOpen: parsed.search !== "" }, label };
}

function sentinelUrl(node: string): URL {
  const parsed = URL.parse(`redis://${node}`);
  if (parsed === null || parsed.hostname === "" || parsed.username !== "" || parsed.password !== "")
    throw new RangeError(`Cannot read the address of Redis: ${EXPECTED}`);
  return parsed;
}

function nodeOf({ hostname, port }: URL, defaultPort: number): { readonly host: string; readonly port: number } {
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? defaultPort : Number(port) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError(
      "Cannot read the address of Redis: user or password has a % that is not an escape; write it as %25",
    );
  }
}
