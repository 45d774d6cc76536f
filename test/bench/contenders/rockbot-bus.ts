import { createRequester } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createEnvelope, Header, newId } from "@rockbot/contracts";
import { startTelemetry } from "@rockbot/telemetry";
import { type Caller, type Place, PREFETCH, SERVICE_CONCURRENCY } from "../contender.ts";

const TOPIC = "bench.bus";
const ANSWERS = "bench.answers";
const TIMEOUT_MS = 60_000;

/** Our bus without tools on it: what is left of a call when nothing is checked, claimed, noted or allowed. */
export async function serve({ amqpUrl }: Place): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await startTelemetry({ service: "bench-bus", logTo: "stderr" }));
  const bus = stack.use(await connectBus(amqpUrl));
  stack.use(
    await bus.subscribe({ name: "bench-bus", topics: [TOPIC], concurrency: SERVICE_CONCURRENCY, prefetch: PREFETCH }, async ({ body, correlationId }) => {
      const answer = encode(decode(body));
      await bus.publish(createEnvelope({ topic: ANSWERS, type: "Answer", source: "bench-bus", correlationId, body: answer }), {
        mandatory: true,
        isTraced: false,
      });
    }),
  );
  return stack.move();
}

export async function connect({ amqpUrl }: Place): Promise<Caller> {
  await startTelemetry({ service: "bench-bus-caller", logTo: "stderr" });
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(await connectBus(amqpUrl));
  const requester = stack.use(createRequester(bus, { replyTo: ANSWERS, subscription: { name: "bench-answers", kind: "result" } }));
  const running = stack.move();
  return {
    async call(text) {
      const id = newId();
      const headers = { [Header.TimeoutMs]: String(TIMEOUT_MS) };
      const request = createEnvelope({
        topic: TOPIC,
        type: "Request",
        source: "bench-bus-caller",
        messageId: id,
        correlationId: id,
        headers,
        body: encode(text),
      });
      const { body } = await requester.request(request, { timeoutMs: TIMEOUT_MS });
      return decode(body);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const encode = (text: string): Uint8Array => Buffer.from(JSON.stringify({ text }));
const decode = (body: Uint8Array): string => (JSON.parse(Buffer.from(body).toString()) as { readonly text: string }).text;
