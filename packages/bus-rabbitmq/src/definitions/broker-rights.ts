import { MAX_INSTANCES } from "@rockbot/contracts";
import type { BusRights } from "@rockbot/policy";
import {
  COPY_NAMES,
  copyName,
  DEAD_LETTER_EXCHANGE,
  diedName,
  EXCHANGE,
  FAST_EXCHANGE,
  fastName,
  mainNames,
  nextQueueName,
  oldParkedName,
  queueName,
  resultName,
  spareQueueName,
} from "../queue-plan.ts";

/**
 * The rights of one user at RabbitMQ. They are regular expressions over names of queues and exchanges, and over keys of
 * topic exchanges.
 */
export interface BrokerRights extends Access {
  readonly user: string;
  /** The right to create and delete. */
  readonly configure: string;
  /** The rights to publish and to bind, by exchange. */
  readonly topics: Readonly<Record<string, Access>>;
}

/** Regular expressions over names or topics: one to write, one to read. */
export interface Access {
  readonly write: string;
  readonly read: string;
}

/** Queues that the broker names. */
const BROKER_NAMED = "amq.gen-*";

/**
 * The rights that let the user do on the bus what the policy allows, and nothing else. Names are taken literally.
 * RabbitMQ's own `{username}` puts the name into the expression as it is, so that a user `.+` would match everybody.
 */
export function brokerRights({ user, isLegacy, serves, results, operates, publishes, hears }: BusRights): BrokerRights {
  const parts = serves.flatMap((service) => [
    ...mainNames(service),
    ...(["retry", "dlq", "parked"] as const).map((part) => queueName(service, part)),
    diedName(service),
    oldParkedName(service),
  ]);
  const answers = results.flatMap((name) => [resultName(name), spareQueueName(name), nextQueueName(name)]);
  // All names but those of peers of before are of a bounded number: a broker limits the queues of all users only.
  const queues = [
    ...alternatives([...parts, ...serves.map(fastName), ...answers], numbersBelow(MAX_INSTANCES)),
    ...alternatives([copyName(user, "*")], numbersBelow(COPY_NAMES)),
    ...(isLegacy ? alternatives([BROKER_NAMED], WORD) : []),
  ];
  const exchanges = alternatives([EXCHANGE, FAST_EXCHANGE, ...(serves.length > 0 ? [DEAD_LETTER_EXCHANGE] : [])], WORD);
  const parked = alternatives(
    operates.map((service) => queueName(service, "parked")),
    WORD,
  );
  const messages = { write: expression(publishes, WORD), read: expression(hears, `(?:${WORD}|\\*)`) };
  return {
    user,
    configure: anyOf(queues),
    write: anyOf([...queues, ...exchanges]),
    read: anyOf([...queues, ...exchanges, ...parked]),
    topics: {
      [EXCHANGE]: messages,
      [FAST_EXCHANGE]: messages,
      [DEAD_LETTER_EXCHANGE]: { write: expression(parts, WORD), read: expression(parts, WORD) },
    },
  };
}

const WORD = "[A-Za-z0-9_-]{1,64}";
/** No name at all; an expression that is empty would be taken as one that fits the empty name. */
const NOTHING = "(?!)";

/** An expression for exactly the names that the patterns take in. */
const expression = (patterns: readonly string[], word: string): string => anyOf(alternatives(patterns, word));

/** @param word an expression for what `*` is */
const alternatives = (patterns: readonly string[], word: string): string[] =>
  [...new Set(patterns)].sort().map((pattern) => pattern.split("*").map(literally).join(word));

/** `\z`, since `$` also fits before a line's end. */
const anyOf = (expressions: readonly string[]): string =>
  expressions.length === 0 ? NOTHING : `^(?:${expressions.join("|")})\\z`;

/** An expression for the whole numbers from 0 to `end` - 1, each written in one way. */
function numbersBelow(end: number): string {
  return `(?:${Array.from({ length: end }, (_, number) => number).join("|")})`;
}

const literally = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, "\\$&");
