import { setTimeout as sleep } from "node:timers/promises";
import type { Handler, SubscriptionKind } from "@rockbot/bus";
import { type Envelope, Header, isReplyTopic, messages, newId } from "@rockbot/contracts";

/** What a service does wrong, as what stands between it and its bus. */
export interface Fault {
  /** What goes out in the place of a message of the service. */
  readonly sends?: (message: Envelope) => readonly Envelope[];
  /** What takes its messages. */
  readonly takes?: (next: Handler, kind: SubscriptionKind, service: FaultyService) => Handler;
  /** Arguments that its queue of parked messages lacks. Such a service cannot start again. */
  readonly lacksArguments?: readonly string[];
  /** True to run the tool with arguments that break its schema. @default false */
  readonly takesAnyArguments?: boolean;
  /** The clauses that it breaks: all of them, and no other. */
  readonly breaks: readonly string[];
}

export interface FaultyService {
  kill(): Promise<void>;
}

const AT_ONCE_MS = 100;
const ANSWERS: ReadonlySet<string> = new Set([messages.ToolInvokeResponse.type, messages.ToolError.type]);
const isAnswer = ({ type }: Envelope): boolean => ANSWERS.has(type);

const answersBy = (change: (answer: Envelope) => readonly Envelope[]) => (message: Envelope) =>
  isAnswer(message) ? change(message) : [message];

const heartbeatsBy =
  (change: (heartbeat: Envelope, isLeaving: boolean) => readonly Envelope[]) =>
  (message: Envelope): readonly Envelope[] =>
    message.type === messages.ToolHeartbeat.type && message.topic.startsWith("tool.announce.")
      ? change(message, bodyOf(message)["isLeaving"] === true)
      : [message];

const requestsBy =
  (change: (next: Handler, service: FaultyService) => Handler) =>
  (next: Handler, kind: SubscriptionKind, service: FaultyService): Handler =>
    kind === "service" ? change(next, service) : next;

const copiesBy =
  (change: (next: Handler) => Handler) =>
  (next: Handler, kind: SubscriptionKind): Handler =>
    kind === "copy" ? change(next) : next;

const bodyOf = ({ body }: Envelope): Record<string, unknown> =>
  JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
const withBody = (message: Envelope, body: object): Envelope => ({
  ...message,
  body: Buffer.from(JSON.stringify(body)),
});

/** Each makes a service that keeps the contract into one that breaks it. Made anew for each service. */
export const faults: Readonly<Record<string, () => Fault>> = {
  "answers without the correlation-id": () => ({
    sends: answersBy((answer) => [{ ...answer, correlationId: undefined }]),
    breaks: ["answer-correlation"],
  }),
  "answers twice": () => ({
    sends: answersBy((answer) => [answer, { ...answer, messageId: newId() }]),
    breaks: ["answer-once"],
  }),
  "answers with another toolCallId": () => ({
    sends: answersBy((answer) => [withBody(answer, { ...bodyOf(answer), toolCallId: newId() })]),
    breaks: ["answer-ids"],
  }),
  "ignores cancels": () => ({
    takes: copiesBy(
      (next) => async (message, delivery) =>
        message.topic.startsWith("tool.cancel.") ? undefined : next(message, delivery),
    ),
    breaks: ["cancel-running", "cancel-before"],
  }),
  "cancels calls of others": () => ({
    takes: copiesBy(
      (next) => (message, delivery) => next({ ...message, source: message.source.replace(/-b$/, "") }, delivery),
    ),
    breaks: ["cancel-others"],
  }),
  "ignores budgets": () => ({
    takes: requestsBy((next) => (message, delivery) => {
      const { [Header.TimeoutMs]: _, ...headers } = message.headers;
      return next({ ...message, headers, ttlMs: undefined }, delivery);
    }),
    breaks: ["budget-over", "budget-runs-out", "budget"],
  }),
  "sends no heartbeats": () => ({
    sends: heartbeatsBy((heartbeat, isLeaving) => (isLeaving ? [heartbeat] : [])),
    breaks: ["heartbeat"],
  }),
  "has another epoch in each heartbeat": () => {
    let epoch = Date.now();
    return {
      sends: heartbeatsBy((heartbeat) => [withBody(heartbeat, { ...bodyOf(heartbeat), epoch: epoch++ })]),
      breaks: ["identity"],
    };
  },
  "leaves without a word": () => ({
    sends: heartbeatsBy((heartbeat, isLeaving) => (isLeaving ? [] : [heartbeat])),
    breaks: ["stop"],
  }),
  "never sends its list": () => ({
    takes: copiesBy(
      (next) => async (message, delivery) =>
        message.topic.startsWith("tool.announce.list.") ? undefined : next(message, delivery),
    ),
    breaks: ["list"],
  }),
  "offers a tool with a name that no tool can have": () => ({
    sends: (message) => {
      if (message.type !== messages.ToolAnnouncement.type) return [message];
      const { tools, ...page } = bodyOf(message) as { readonly tools: readonly object[] };
      return [withBody(message, { ...page, tools: tools.map((tool) => ({ ...tool, name: "odd:tool" })) })];
    },
    breaks: ["list", "definition", "identity"],
  }),
  "dies of a request that is not JSON": () => ({
    takes: requestsBy((next, service) => async (message, delivery) => {
      if (!Buffer.from(message.body).toString().startsWith("{ this")) return next(message, delivery);
      await service.kill();
    }),
    breaks: ["request-form"],
  }),
  "dies of a request that is not JSON while answers of before are not acknowledged": () => ({
    takes: requestsBy((next, service) => async (message, delivery) => {
      if (Buffer.from(message.body).toString().startsWith("{ this")) return service.kill();
      await next(message, delivery);
      await sleep(500); // its answer is out; it is acknowledged only then
    }),
    breaks: ["request-form"],
  }),
  "runs repeats of a call again": () => {
    const seen = new Set<string>();
    const asked = new Map<string, string>();
    return {
      takes: requestsBy((next) => (message, delivery) => {
        if (message.type !== messages.ToolInvokeRequest.type || !isJson(message)) return next(message, delivery);
        const body = bodyOf(message);
        const toolCallId = String(body["toolCallId"]);
        if (!seen.has(toolCallId) || delivery.isRedelivered) {
          seen.add(toolCallId);
          return next(message, delivery);
        }
        const fresh = newId();
        asked.set(fresh, toolCallId);
        return next(withBody(message, { ...body, toolCallId: fresh }), delivery);
      }),
      sends: answersBy((answer) => {
        const toolCallId = asked.get(String(bodyOf(answer)["toolCallId"]));
        return [toolCallId === undefined ? answer : withBody(answer, { ...bodyOf(answer), toolCallId })];
      }),
      breaks: ["join", "kept-reply", "conflict"],
    };
  },
  "declares a queue without its limits": () => ({
    lacksArguments: ["x-max-length", "x-max-length-bytes"],
    breaks: ["queues"],
  }),
  "tells progress to who has not asked": () => ({
    takes: requestsBy(
      (next) => (message, delivery) =>
        next({ ...message, headers: { ...message.headers, [Header.Progress]: "1" } }, delivery),
    ),
    breaks: ["progress-asked"],
  }),
  "answers on any topic": () => {
    const wanted = new Map<string, string>();
    return {
      takes: requestsBy((next) => (message, delivery) => {
        const { replyTo } = message;
        if (replyTo === undefined || isReplyTopic(replyTo)) return next(message, delivery);
        const stand = `tool.result.${newId().slice(0, 12)}`;
        wanted.set(stand, replyTo);
        return next({ ...message, replyTo: stand }, delivery);
      }),
      sends: (message) => [{ ...message, topic: wanted.get(message.topic) ?? message.topic }],
      breaks: ["reply-topic"],
    };
  },
  "acknowledges before it works": () => ({
    takes: requestsBy((next) => async (message, delivery) => {
      const run = next(message, delivery);
      await Promise.race([run, sleep(AT_ONCE_MS)]); // what it refuses, it refuses properly
      run.catch(() => {});
    }),
    breaks: ["acknowledge"],
  }),
  "runs one call at a time": () => {
    let last: Promise<unknown> = Promise.resolve();
    return {
      takes: requestsBy((next) => (message, delivery) => {
        const run = last.then(() => next(message, delivery));
        last = run.catch(() => {});
        return run;
      }),
      breaks: ["concurrency"],
    };
  },
  "runs with whatever arguments": () => ({ takesAnyArguments: true, breaks: ["arguments"] }),
};

function isJson(message: Envelope): boolean {
  try {
    bodyOf(message);
    return true;
  } catch {
    return false;
  }
}
