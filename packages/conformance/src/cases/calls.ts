import { decodeMessage, messages, readTtlMs } from "@rockbot/contracts";
import { must, NotTried } from "../breach.ts";
import type { Callee, HeardCall } from "../callee.ts";
import type { Case, ClauseId } from "../case.ts";

/** A budget longer than this is not waited for. */
export const MAX_BUDGET_MS = 60_000;

type Properties = HeardCall["message"]["properties"];
const senderOf = ({ headers, ...properties }: Properties): unknown => properties["userId"] ?? headers?.["rb-source"];
const idOf = (body: Buffer): unknown =>
  (decodeMessage("ToolCancel", body) as { readonly value?: { readonly toolCallId: string } }).value?.toolCallId;
const isHeader = ([name, value]: readonly [string, unknown]): boolean =>
  name.startsWith("x-") ||
  (name.startsWith("rb-") && typeof value === "string" && (!/-ms$|-depth$/.test(name) || /^\d+$/.test(value)));

/** Cases on all calls of a caller: looked at once those are over. */
export const callCases: readonly Case<Callee>[] = [
  each("caller-request", "requests go to the topic of the announcement", ({ message }, { topic }) => [
    message.topic === topic,
    message.topic,
  ]),
  each("request-form", "requests are ToolInvokeRequests", ({ message: { properties }, fault }) => {
    const isTyped = String(properties["type"]).toLowerCase() === messages.ToolInvokeRequest.type.toLowerCase();
    return [isTyped && fault === undefined, isTyped ? fault : properties["type"]];
  }),
  each("properties", "requests are persistent and JSON, and have an id and a time", ({ message: { properties } }) => {
    const { messageId, contentType, deliveryMode, timestamp } = properties;
    const isKept =
      /^[0-9a-f]{32}$/.test(String(messageId)) &&
      contentType === "application/json" &&
      deliveryMode === 2 &&
      typeof timestamp === "number";
    return [isKept, { messageId, contentType, deliveryMode, timestamp }];
  }),
  each("headers", "headers are text, and begin with rb-", ({ message }) => {
    const wrong = Object.entries(message.properties.headers ?? {}).filter((header) => !isHeader(header));
    return [wrong.length === 0, wrong];
  }),
  each("sender", "requests say who sends them", ({ message: { properties } }, { options }) => [
    senderOf(properties) === options.caller,
    senderOf(properties),
  ]),
  each("caller-request", "requests have their budget as expiration", ({ message: { properties } }) => [
    !!readTtlMs(properties["expiration"]),
    properties["expiration"],
  ]),
  each("caller-request", "requests have a correlation-id", ({ message: { properties } }) => [
    !!properties["correlationId"],
    properties["correlationId"],
  ]),
  each("redelivered", "no two calls have one toolCallId", (call, { calls }) => [
    calls.every((one) => one === call || one.toolCallId !== call.toolCallId),
    "twice",
  ]),
  each(
    "caller-results",
    "answers are asked for on a topic of the caller",
    ({ message: { properties } }, { options: { caller } }) => {
      const [root, own, ...more] = String(properties["replyTo"]).split(`.${caller}`);
      return [
        root === "tool.result" && more.length === 0 && /^(\.[\w-]{1,64})?$/.test(own ?? "-"),
        properties["replyTo"],
      ];
    },
  ),
  each("caller-results", "a queue is bound for answers", ({ isHeard }) => [isHeard, "no queue took the answer"]),
  each("caller-progress", "a queue is bound for the progress that is asked for", ({ isProgressHeard }) => [
    isProgressHeard,
    "no queue took it",
  ]),
  each("caller-answer", "each answer is taken for its own call, also if others come", (call, { calls, texts }) => {
    const before = calls.indexOf(call) - 1;
    return [
      calls[before]?.isHeard && before < 2 ? call.seen === texts[before] : undefined,
      { answer: texts[before], seen: call.seen },
    ];
  }),
  each("caller-answer", "a call without an answer ends by the caller's own timer", (call, { calls }) => {
    const isSeen =
      call === calls[2] &&
      (calls.length > 3 || (readTtlMs(call.message.properties["expiration"]) ?? 0) <= MAX_BUDGET_MS);
    return [isSeen ? calls.length > 3 : undefined, "no further call came"];
  }),
  each(
    "caller-cancel",
    "a cancel goes to the service of the announcement, from the sender of the request",
    (call, { calls, cancels, service }) => {
      const own = cancels.filter(
        ({ topic, body }) =>
          idOf(body) === call.toolCallId || (call === calls[2] && topic.startsWith(`tool.cancel.${service}-`)),
      );
      const [sender, type] = [senderOf(call.message.properties), messages.ToolCancel.type];
      const isKept = own.every(
        ({ topic, properties }) =>
          topic === `tool.cancel.${service}` && properties["type"] === type && senderOf(properties) === sender,
      );
      return [
        own.length === 0 ? undefined : isKept,
        own.map(({ topic, properties }) => ({ topic, type: properties["type"], sender: senderOf(properties) })),
      ];
    },
  ),
  each("caller-request", "requests are mandatory: the broker hands that flag to nobody", () => [undefined, undefined]),
];

/**
 * @param look whether a call keeps the clause, undefined if the call does not show it; and what of it breaks the clause
 */
function each(
  clause: ClauseId,
  name: string,
  look: (call: HeardCall, callee: Callee) => readonly [boolean | undefined, unknown],
): Case<Callee> {
  return {
    name,
    clause,
    run(callee) {
      const looks = callee.calls.map((call) => ({ call, look: look(call, callee) }));
      if (looks.every(({ look: [isKept] }) => isKept === undefined)) throw new NotTried("no call that came shows it");
      for (const {
        call,
        look: [isKept, found],
      } of looks)
        must(isKept !== false, `the call with the toolCallId ${call.toolCallId}: ${JSON.stringify(found)}`);
    },
  };
}
