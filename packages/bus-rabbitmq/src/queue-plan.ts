import { PARKED_BYTES, PARKED_MESSAGES, PARKED_MS, type QueuePart, RESULT_QUEUE_EXPIRES_MS } from "@rockbot/bus";

/** Where messages are published. It has no alternate exchange, which would swallow what `mandatory` should return. */
export const EXCHANGE = "rockbot";
/** Where messages of the fast lane are published, by the same topics. */
export const FAST_EXCHANGE = "rockbot.fast";
/**
 * The exchange of dead letters; its keys are queue names. It is a topic exchange, because a broker grants only the keys
 * of such exchanges one by one. At a direct exchange a service could bind and write the keys of others.
 */
export const DEAD_LETTER_EXCHANGE = "rockbot.dlx.v1";
/**
 * More deaths of consumers over a message than this, and it goes to the lone retry, unless it is not to blame for them.
 */
const DELIVERY_LIMIT = 10;
/**
 * A quorum queue counts each look at a parked message as a delivery. From RabbitMQ 4 on it drops a message after twenty
 * where no limit is set.
 */
const LOOKS_LIMIT = 2 ** 31 - 1;

/** The arguments with which a queue is declared. Another declaration of the same name must have the same. */
export type QueueArguments = Readonly<Record<string, string | number>>;

/** One queue of a service. All of them are durable. */
export interface PlannedQueue {
  /** `died`: where the broker puts what dies in the main queue. */
  readonly part: QueuePart | "died";
  readonly name: string;
  readonly arguments: QueueArguments;
  /** Its binding keys at the exchange of dead letters. */
  readonly deadLetterKeys: readonly string[];
}

/**
 * The versions of services' main queues. The arguments of a queue cannot change. A release that needs others raises
 * `current`, and names the version of before as retired. See `lead-topics.ts`.
 */
export interface QueueVersions {
  readonly current: number;
  /** The queues that instances of earlier releases may still use. */
  readonly retired: readonly number[];
}

/** Queue versions of this release. */
export const QUEUE_VERSIONS: QueueVersions = { current: 1, retired: [] };

/** The names of a service's main queues: the one of now first. */
export const mainNames = (
  subscription: string,
  { current, retired }: QueueVersions = QUEUE_VERSIONS,
): readonly string[] => [current, ...retired].map((version) => `rockbot.${subscription}.v${version}`);

/** The name on the broker of the queue behind a subscription of kind `service`. */
export function queueName(subscription: string, part: QueuePart = "main"): string {
  if (part === "main") return mainNames(subscription)[0] as string;
  return `rockbot.${subscription}.${part === "dlq" ? "v1" : "v2"}.${part}`;
}

/** The name on the broker of the queue behind a subscription of kind `result`. */
export const resultName = (subscription: string): string => `rockbot.${subscription}.v1`;

/** The name on the broker of the queue from which a service takes the fast lane. */
export const fastName = (subscription: string): string => `rockbot.${subscription}.v1.fast`;

/** Where the broker puts what dies in the main queue of a service: of consumers, or of its time to live. */
export const diedName = (subscription: string): string => `rockbot.${subscription}.v1.retry`;

/** Takes answers while the node that has the main queue of a subscription of kind `result` is down. */
export const spareQueueName = (subscription: string): string => `rockbot.${subscription}.v1.spare`;

/**
 * Where a second subscription of kind `result` gets each message that the owner of the name gets, until it succeeds the
 * owner.
 */
export const nextQueueName = (subscription: string): string => `rockbot.${subscription}.v1.next`;

/** How many queues for copies a user may have where senders are verified. */
export const COPY_NAMES = 256;

/**
 * The name of a queue for copies where senders are verified. A user whose broker made the names could have as many
 * queues as it likes.
 */
export const copyName = (user: string, number: number | "*"): string => `rockbot.copy.${user}.${number}`;

/** Where messages were parked before; also the key under which the broker parks what it moves from the dlq. */
export const oldParkedName = (subscription: string): string => `rockbot.${subscription}.v1.parked`;

/** Arguments of a queue for answers, which is durable. */
export const resultArguments: QueueArguments = { "x-queue-type": "classic", "x-expires": RESULT_QUEUE_EXPIRES_MS };

/** Arguments of a successor's queue. While its consumer is away it gets what the owner gets, which is of use to nobody else. */
export const nextArguments: QueueArguments = {
  ...resultArguments,
  "x-max-length-bytes": 32 * 1024 * 1024,
  "x-overflow": "drop-head",
};

/**
 * Arguments of a queue of the fast lane, whose messages are in memory. A message without room there goes by its topic
 * to the main queue, with one death. The queue goes when nobody has taken from it for a while: callers see that.
 */
export const fastArguments: QueueArguments = {
  "x-queue-type": "classic",
  "x-expires": RESULT_QUEUE_EXPIRES_MS,
  "x-max-length": 10_000,
  "x-max-length-bytes": 32 * 1024 * 1024,
  "x-overflow": "reject-publish-dlx",
  "x-dead-letter-exchange": EXCHANGE,
};

/** Arguments of a queue for copies, which is exclusive, deleted with its consumer, and not durable. */
export const copyArguments: QueueArguments = { "x-queue-type": "classic" };

/**
 * The queues of a service, in the order of their declaration. The last station comes first, because no message may die
 * on its way to a queue that is not there yet. A message that consumers died over, and that is not to blame, goes back
 * to the main queue. Dead letters of the main queue whose time was over are done with. The rest goes to `retry`, from
 * there to `dlq`, and from there, once answered, to `parked`. All are quorum queues: the loss of a node loses none of
 * them. The lengths of live queues come as policies of the broker, because the arguments of a queue can never change.
 */
export function serviceQueues(subscription: string, versions: QueueVersions = QUEUE_VERSIONS): readonly PlannedQueue[] {
  const parked = queueName(subscription, "parked");
  const dlq = queueName(subscription, "dlq");
  const died = diedName(subscription);
  const old = oldParkedName(subscription);
  const loneTry = { "x-queue-type": "quorum", "x-delivery-limit": 1, ...deadLettersTo(dlq) };
  return [
    {
      part: "parked",
      name: parked,
      arguments: {
        "x-queue-type": "quorum",
        "x-delivery-limit": LOOKS_LIMIT,
        "x-message-ttl": PARKED_MS,
        "x-max-length": PARKED_MESSAGES,
        "x-max-length-bytes": PARKED_BYTES,
        "x-overflow": "drop-head",
      },
      deadLetterKeys: [parked, old],
    },
    {
      part: "dlq",
      name: dlq,
      arguments: { "x-queue-type": "quorum", "x-delivery-limit": DELIVERY_LIMIT, ...deadLettersTo(old) },
      deadLetterKeys: [dlq],
    },
    {
      part: "retry",
      name: queueName(subscription, "retry"),
      arguments: loneTry,
      deadLetterKeys: [queueName(subscription, "retry")],
    },
    { part: "died", name: died, arguments: loneTry, deadLetterKeys: [died] },
    {
      part: "main",
      name: mainNames(subscription, versions)[0] as string,
      arguments: { "x-queue-type": "quorum", "x-delivery-limit": DELIVERY_LIMIT, ...deadLettersTo(died) },
      deadLetterKeys: mainNames(subscription, versions).slice(0, 1),
    },
  ];
}

/** At-least-once: the broker keeps a dead letter until the next queue has it, which needs that overflow setting. */
function deadLettersTo(queue: string): QueueArguments {
  return {
    "x-dead-letter-exchange": DEAD_LETTER_EXCHANGE,
    "x-dead-letter-routing-key": queue,
    "x-dead-letter-strategy": "at-least-once",
    "x-overflow": "reject-publish",
  };
}
