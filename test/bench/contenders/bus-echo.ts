import { type Bus, createRequester } from "@rockbot/bus";
import { createEnvelope, newId } from "@rockbot/contracts";
import { type Caller, PREFETCH, SERVICE_CONCURRENCY } from "../contender.ts";
import type { Payload } from "../payload.ts";
import { validateEcho } from "./echo-tool.ts";

const TOPIC = "tool.invoke.bench-bus";
const ANSWERS = "tool.result.bench-bus";
const TIMEOUT_MS = 60_000;

/**
 * Answers on a bus without tools on it: the arguments are checked, and nothing is claimed, noted or allowed. Does not
 * take the bus over.
 */
export function serveEcho(bus: Bus): Promise<AsyncDisposable> {
  return bus.subscribe(
    { name: "bench-bus", topics: [TOPIC], concurrency: SERVICE_CONCURRENCY, prefetch: PREFETCH },
    async ({ body, correlationId }) => {
      const input = decode(body);
      if (!validateEcho(input)) throw new TypeError("Cannot run echo: the arguments do not match the schema");
      await bus.publish(
        createEnvelope({ topic: ANSWERS, type: "Answer", source: "bench-bus", correlationId, body: encode(input) }),
        {
          mandatory: true,
          isTraced: false,
        },
      );
    },
  );
}

/** Calls what `serveEcho` serves. Takes the bus over. */
export function connectEcho(bus: Bus): Caller {
  const stack = new AsyncDisposableStack();
  stack.use(bus);
  const requester = stack.use(
    createRequester(bus, { replyTo: ANSWERS, subscription: { name: "bench-answers", kind: "result" } }),
  );
  return {
    async call(payload) {
      const id = newId();
      const body = encode(payload);
      const request = createEnvelope({
        topic: TOPIC,
        type: "Request",
        source: "bench-bus-caller",
        messageId: id,
        correlationId: id,
        body,
      });
      const answer = await requester.request(request, { timeoutMs: TIMEOUT_MS });
      return decode(answer.body) as Payload;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const decode = (body: Uint8Array): unknown => JSON.parse(utf8.decode(body));
const utf8 = new TextDecoder();
