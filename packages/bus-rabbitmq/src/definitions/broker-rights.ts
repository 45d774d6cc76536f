import type { BusRights } from "@rockbot/policy";
import { DEAD_LETTER_EXCHANGE, EXCHANGE, oldParkedName, queueName, spareQueueName } from "../topology.ts";

/** What RabbitMQ lets one user do: regular expressions over names of queues and exchanges, and over keys of topic exchanges. */
export interface BrokerRights extends Access {
  readonly user: string;
  /** To create and delete. */
  readonly configure: string;
  /** By exchange: to publish and to bind. */
  readonly topics: Readonly<Record<string, Access>>;
}

export interface Access {
  readonly write: string;
  readonly read: string;
}

/** Queues that the broker names, for copies: of one connection each. */
const COPIES = "amq.gen-*";

/**
 * What the broker must grant, so that the user can do on the bus what it may there, and nothing else. Names are taken
 * literally: RabbitMQ's own `{username}` puts the name into the expression as it is, so that a user `.+` would be everybody.
 */
export function brokerRights({ user, serves, results, operates, publishes, hears }: BusRights): BrokerRights {
  const parts = serves.flatMap((service) => [...(["retry", "dlq", "parked"] as const).map((part) => queueName(service, part)), oldParkedName(service)]);
  const answers = results.flatMap((name) => [queueName(name), spareQueueName(name)]);
  const queues = [COPIES, ...serves.map((service) => queueName(service)), ...parts, ...answers];
  const deadLetters = serves.length > 0 ? [DEAD_LETTER_EXCHANGE] : [];
  return {
    user,
    configure: expression(queues, WORD),
    write: expression([...queues, EXCHANGE, ...deadLetters], WORD),
    read: expression([...queues, EXCHANGE, ...deadLetters, ...operates.map((service) => queueName(service, "parked"))], WORD),
    topics: {
      [EXCHANGE]: { write: expression(publishes, WORD), read: expression(hears, `(?:${WORD}|\\*)`) },
      [DEAD_LETTER_EXCHANGE]: { write: expression(parts, WORD), read: expression(parts, WORD) },
    },
  };
}

const WORD = "[A-Za-z0-9_-]{1,64}";
/** No name at all; an expression that is empty would be taken as one that fits the empty name. */
const NOTHING = "(?!)";

/** An expression for exactly the names that the patterns take in. `\z`, since `$` also fits before a line's end. */
function expression(patterns: readonly string[], word: string): string {
  if (patterns.length === 0) return NOTHING;
  const alternatives = [...new Set(patterns)].sort().map((pattern) => pattern.split("*").map(literally).join(word));
  return `^(?:${alternatives.join("|")})\\z`;
}

const literally = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, "\\$&");
