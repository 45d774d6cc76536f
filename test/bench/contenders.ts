import type { Part } from "./place/bench-policy.ts";

/** What is known of a contender before it runs. Its code is `contenders/{file}`. */
export interface ContenderInfo {
  readonly file: string;
  /** What it guarantees, and how it is set up. */
  readonly about: string;
  /** The contender that its figures are set against. */
  readonly reference: string;
  /** True for a library of test/bench/package.json. */
  readonly isForeign?: true;
  /** Caller and service are one process, and there is no broker. */
  readonly isLocal?: true;
  /** There is a process between caller and service. */
  readonly hasFront?: true;
  /** It is rockbot-deployed without one part, to see what that costs: it is measured in one case. */
  readonly isPart?: true;
}

const withoutPart = (part: Part, about: string): ContenderInfo => ({
  file: `rockbot-deployed.ts?${part}`,
  about: `rockbot-deployed without ${about}`,
  reference: "rockbot",
  isPart: true,
});

/** In the order of the report; a reference comes before those it is set against. */
export const contenders: Readonly<Record<string, ContenderInfo>> = {
  "amqplib-same": {
    file: "amqplib-same.ts",
    about:
      "plain amqplib with the guarantees of ours: quorum queue, persistent, pipelined confirms, manual acks, `noDelay`",
    reference: "amqplib-same",
  },
  "amqplib-batched": {
    file: "amqplib-batched.ts",
    about: "the same, but frames of one turn of the event loop go out at once, and one ack covers many messages",
    reference: "amqplib-same",
  },
  "amqplib-full": {
    file: "amqplib-full.ts",
    about:
      "the same with what ours does besides, by hand: expiry, dead letters, `mandatory`, schema checks, deadlines, trace headers, spans and metrics",
    reference: "amqplib-same",
  },
  rockbot: {
    file: "rockbot.ts",
    about: "ours, a read-only tool: schema checks, deadlines, metrics, and spans that are exported nowhere",
    reference: "amqplib-same",
  },
  "rockbot-fast": {
    file: "rockbot-fast.ts",
    about: "the same, its calls by the fast lane: in the broker's memory, without a quorum queue",
    reference: "amqplib-same",
  },
  "rockbot-claims": {
    file: "rockbot-claims.ts",
    about: "ours, a tool with effects: the same and each call claimed in Redis",
    reference: "amqplib-same",
  },
  "rockbot-deployed": {
    file: "rockbot-deployed.ts",
    about:
      "rockbot-claims as compose deploys it: verified senders, a policy, an audit log, the caller's journal in Redis, traces and metrics sent to a collector",
    reference: "rockbot",
  },
  "no-audit": withoutPart("audit", "its audit log"),
  "no-journal": withoutPart("journal", "its caller's journal in Redis"),
  "no-claims": withoutPart("claims", "claims, as a tool that only reads"),
  "no-export": withoutPart("export", "traces and metrics sent to a collector"),
  "rockbot-http": {
    file: "rockbot-http.ts",
    about: "rockbot, called by HTTP through the gateway, which is a third process",
    reference: "rockbot",
    hasFront: true,
  },
  "rockbot-bus": {
    file: "rockbot-bus.ts",
    about: "our bus alone: a schema check, spans and metrics, but no tools, and so none of their layers",
    reference: "amqplib-same",
  },
  "amqplib-bare": {
    file: "amqplib-bare.ts",
    about: "plain amqplib without guarantees: transient, no confirms, no acks, direct reply-to",
    reference: "amqplib-same",
  },
  "rabbitmq-client": {
    file: "rabbitmq-client.mjs",
    about: "rabbitmq-client with the same guarantees, `noDelay`",
    reference: "amqplib-same",
    isForeign: true,
  },
  rascal: {
    file: "rascal.mjs",
    about: "rascal with the same guarantees, `noDelay`, and a pool of channels to publish on",
    reference: "amqplib-same",
    isForeign: true,
  },
  moleculer: {
    file: "moleculer.mjs",
    about: "Moleculer over AMQP: persistent, no confirms, prefetch and `noDelay` set",
    reference: "amqplib-same",
    isForeign: true,
  },
  nest: {
    file: "nest.mjs",
    about: "NestJS over RMQ as it comes: transient, no confirms, no acks; prefetch and `noDelay` set",
    reference: "amqplib-same",
    isForeign: true,
  },
  "nest-durable": {
    file: "nest-durable.mjs",
    about: "NestJS over RMQ, quorum and persistent: no confirms, acked before the reply is written",
    reference: "amqplib-same",
    isForeign: true,
  },
  function: {
    file: "function.ts",
    about: "a function call in one process, with a schema check and JSON both ways",
    reference: "function",
    isLocal: true,
  },
  "rockbot-memory-bus": {
    file: "rockbot-memory-bus.ts",
    about: "our in-memory bus alone: as rockbot-bus, in one process",
    reference: "function",
    isLocal: true,
  },
  "rockbot-memory": {
    file: "rockbot-memory.ts",
    about: "ours, a read-only tool over the in-memory bus",
    reference: "function",
    isLocal: true,
  },
};
