import { messages } from "@rockbot/contracts";
import { MAX_RESULT_BYTES } from "@rockbot/tools/limits";
import { must } from "../breach.ts";
import type { Case, ClauseId } from "../case.ts";
import { ANSWER_MS, type Examiner } from "../examiner.ts";
import { described, type Exchange, type Reply } from "../exchange.ts";
import type { Hearing } from "../hearing.ts";

const TYPES: ReadonlySet<unknown> = new Set(
  [messages.ToolInvokeResponse.type, messages.ToolError.type].map((type) => type.toLowerCase()),
);

/** Cases on all messages of the cases before: looked at when those are over. */
export const trafficCases: readonly Case[] = [
  ofEachExchange("no delivery of a request has more than one answer", "answer-once", (exchange, { hearing }) => {
    const { length } = exchange.replies.filter((_, number) => !mayBeOfNextDelivery(exchange, number, hearing));
    return length > exchange.sent
      ? `was sent ${exchange.sent} time(s) and has ${exchange.replies.length} answers`
      : undefined;
  }),
  ofEachReply("answers have the correlation-id of their requests", "answer-correlation", (exchange, { message }) => {
    const { correlationId } = message.properties;
    return correlationId === exchange.correlationId
      ? undefined
      : `has the correlation-id ${JSON.stringify(correlationId)}; the request's is "${exchange.correlationId}"`;
  }),
  ofEachReply(
    "answers name the call and the tool as their requests do",
    "answer-ids",
    ({ toolCallId, toolName }, reply) => {
      if (reply.code === "invalid_arguments" || reply.code === "too_large" || reply.fault !== undefined)
        return undefined; // what could not be read
      if (reply.toolCallId !== toolCallId)
        return `has the toolCallId ${JSON.stringify(reply.toolCallId)}; the request's is "${toolCallId}"`;
      return reply.toolName === toolName
        ? undefined
        : `has the toolName ${JSON.stringify(reply.toolName)}; the request's is "${toolName}"`;
    },
  ),
  ofEachReply("answers are persistent, typed, JSON, and do not expire", "answer-message", (_, { message, fault }) => {
    const { type, contentType, deliveryMode, expiration } = message.properties;
    if (!TYPES.has(String(type).toLowerCase())) return `has the type ${JSON.stringify(type)}`;
    if (fault !== undefined) return `cannot be read: ${fault}`;
    if (contentType !== "application/json")
      return `has the content-type ${JSON.stringify(contentType)}; expected application/json`;
    if (deliveryMode !== 2)
      return `has the delivery-mode ${JSON.stringify(deliveryMode)}; expected 2, which is persistent`;
    if (expiration !== undefined) return `has the expiration ${JSON.stringify(expiration)}; expected none`;
    return message.body.byteLength > MAX_RESULT_BYTES
      ? `has ${message.body.byteLength} bytes; at most ${MAX_RESULT_BYTES} are carried`
      : undefined;
  }),
  ofEachReply("messages say who sends them", "properties", (_, { message }) => {
    const { messageId, timestamp, headers } = message.properties;
    if (!/^[0-9a-f]{32}$/.test(String(messageId)))
      return `has the message-id ${JSON.stringify(messageId)}; expected 32 hex digits`;
    if (typeof timestamp !== "number") return "has no timestamp";
    return typeof headers?.["rb-source"] === "string" ? undefined : "has no header rb-source";
  }),
  ofEachExchange("progress comes only for calls that ask for it", "progress-asked", ({ asksForProgress, progress }) =>
    !asksForProgress && progress.length > 0
      ? `did not ask for progress, and ${progress.length} update(s) came`
      : undefined,
  ),
];

/**
 * Tells whether the answer may be one to a second delivery: the service died and came back between it and the answer
 * before it. A service that dies after an answer, and before the broker has its acknowledgement, gets the request
 * again.
 */
function mayBeOfNextDelivery({ replies }: Exchange, number: number, hearing: Hearing): boolean {
  const [before, after] = [replies[number - 1]?.message.receivedAt, replies[number]?.message.receivedAt];
  if (before === undefined || after === undefined) return false;
  return hearing.startsAt().some((at) => at > before && at < after + ANSWER_MS);
}

function ofEachExchange(
  name: string,
  clause: ClauseId,
  faultOf: (exchange: Exchange, examiner: Examiner) => string | undefined,
): Case {
  return {
    name,
    clause,
    async run(examiner) {
      for (const exchange of examiner.exchanges) {
        const fault = faultOf(exchange, examiner);
        must(fault === undefined, `${exchange.what} ${fault}`);
      }
    },
  };
}

function ofEachReply(
  name: string,
  clause: ClauseId,
  faultOf: (exchange: Exchange, reply: Reply) => string | undefined,
): Case {
  return ofEachExchange(name, clause, (exchange) => {
    const faults = exchange.replies.flatMap((reply) => {
      const fault = faultOf(exchange, reply);
      return fault === undefined ? [] : [`was answered with ${described(reply)}, which ${fault}`];
    });
    return faults[0];
  });
}
