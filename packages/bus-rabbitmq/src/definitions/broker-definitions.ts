import { RESULT_QUEUE_EXPIRES_MS } from "@rockbot/bus";
import type { BusRights } from "@rockbot/policy";
import { DEAD_LETTER_EXCHANGE, EXCHANGE, FAST_EXCHANGE } from "../queue-plan.ts";
import { type Access, brokerRights } from "./broker-rights.ts";
import { type PasswordHash, passwordHash } from "./password-hash.ts";

/** The passwords and the virtual host of the definitions. */
export interface BrokerDefinitionsOptions {
  /** The password of each user. */
  readonly passwords: ReadonlyMap<string, string>;
  /** @default "/" */
  readonly vhost?: string | undefined;
}

/** What the policy asks of the broker, in the broker's own words. */
export interface BrokerDefinitions {
  readonly vhosts: readonly { readonly name: string }[];
  readonly exchanges: readonly DefinedExchange[];
  readonly users: readonly DefinedUser[];
  readonly permissions: readonly DefinedPermission[];
  readonly topic_permissions: readonly DefinedTopicPermission[];
  readonly policies: readonly DefinedPolicy[];
}

export interface DefinedExchange {
  readonly name: string;
  readonly vhost: string;
  readonly type: string;
  readonly durable: boolean;
  readonly auto_delete: boolean;
  readonly internal: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface DefinedUser extends PasswordHash {
  readonly name: string;
  readonly tags: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
}

export interface DefinedPermission extends Access {
  readonly user: string;
  readonly vhost: string;
  readonly configure: string;
}

export interface DefinedTopicPermission extends Access {
  readonly user: string;
  readonly vhost: string;
  readonly exchange: string;
}

export interface DefinedPolicy {
  readonly name: string;
  readonly vhost: string;
  readonly pattern: string;
  readonly "apply-to": string;
  readonly priority: number;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** The tag of users that are RockBot's to change and to delete. It grants nothing. */
export const OWNED_TAG = "rockbot";

/**
 * Live queues are bounded, so that a consumer that is away cannot fill the broker: publishers hear that the queue is
 * full.
 */
const MAX_REQUESTS = 50_000;
const MAX_REQUEST_BYTES = 256 * 1024 * 1024;
/** The bound of one queue's backlog: a consumer that is there has its messages at once. */
const MAX_RESULT_BYTES = 32 * 1024 * 1024;
/** No more than one of the largest messages. */
const MAX_COPY_BYTES = 16 * 1024 * 1024;
/**
 * Messages that nobody takes from a copy's queue for so long are of no use, and a queue without consumers is nobody's.
 */
const COPY_MS = 60_000;
/**
 * A process has two connections, and a few dozen channels: room for many instances, and an end to what one user can
 * take up.
 */
const MAX_CONNECTIONS = 256;
const MAX_CHANNELS = 8_192;

/** The beginning of the names of services' queues. */
const SERVICES = "^rockbot\\.(?!result\\.|copy\\.).+\\.v[0-9]+";

/**
 * The definitions for `rabbitmqctl import_definitions`, or for `load_definitions` at the start of RabbitMQ, versions
 * 3.10 to 4. They hold the virtual host, the exchanges, the users with their rights, and the bounds of their queues.
 * They do not hold the largest message size: that is `max_message_size` in rabbitmq.conf.
 * @throws {RangeError} if a user has no password
 */
export function brokerDefinitions(
  users: readonly BusRights[],
  { passwords, vhost = "/" }: BrokerDefinitionsOptions,
): BrokerDefinitions {
  const rights = users.map(brokerRights);
  const exchange = { vhost, type: "topic", durable: true, auto_delete: false, internal: false, arguments: {} };
  return {
    vhosts: [{ name: vhost }],
    exchanges: [EXCHANGE, FAST_EXCHANGE, DEAD_LETTER_EXCHANGE].map((name) => ({ name, ...exchange })),
    users: users.map(({ user, operates }) => {
      const password = passwords.get(user);
      if (password === undefined) throw new RangeError(`Cannot define the broker's users: "${user}" has no password`);
      return {
        name: user,
        ...passwordHash(password),
        tags: [OWNED_TAG, ...(operates.length > 0 ? ["monitoring"] : [])],
        limits: { "max-connections": MAX_CONNECTIONS, "max-channels": MAX_CHANNELS },
      };
    }),
    permissions: rights.map(({ user, configure, write, read }) => ({ user, vhost, configure, write, read })),
    topic_permissions: rights.flatMap(({ user, topics }) =>
      Object.entries(topics).map(([name, access]) => ({ user, vhost, exchange: name, ...access })),
    ),
    policies: [
      policy("rockbot-requests", `${SERVICES}$`, {
        "max-length": MAX_REQUESTS,
        "max-length-bytes": MAX_REQUEST_BYTES,
        overflow: "reject-publish",
      }),
      policy("rockbot-dead", `${SERVICES}\\.`, { "max-length-bytes": MAX_REQUEST_BYTES }),
      policy("rockbot-results", "^rockbot\\.result\\.", {
        expires: RESULT_QUEUE_EXPIRES_MS,
        "max-length-bytes": MAX_RESULT_BYTES,
        overflow: "drop-head",
      }),
      policy("rockbot-copies", "^(amq\\.gen-|rockbot\\.copy\\.)", {
        "message-ttl": COPY_MS,
        expires: COPY_MS,
        "max-length-bytes": MAX_COPY_BYTES,
      }),
    ].map((fields) => ({ vhost, ...fields })),
  };
}

function policy(
  name: string,
  pattern: string,
  definition: Readonly<Record<string, unknown>>,
): Omit<DefinedPolicy, "vhost"> {
  return { name, pattern, "apply-to": "queues", priority: 0, definition };
}
