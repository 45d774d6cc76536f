import { connectBus } from "@rockbot/bus-rabbitmq";
import { startTelemetry } from "@rockbot/process/telemetry";
import { serveTools } from "@rockbot/tools";
import { type Caller, type Place, SERVICE_CONCURRENCY } from "../contender.ts";
import { echoSet } from "./echo-tool.ts";
import { benchPolicy, connectToolCaller } from "./tool-caller.ts";

/** As rockbot, with a tool whose calls take the fast lane. */
const TOOL = "bench_fast";

export async function serve({ amqpUrl }: Place): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await startTelemetry({ service: "bench-fast", logTo: "stderr" }));
  const bus = stack.use(await connectBus(amqpUrl));
  stack.use(
    await serveTools(bus, echoSet(TOOL, { readOnly: true, fast: true }), {
      service: "bench-fast",
      concurrency: SERVICE_CONCURRENCY,
      policy: await benchPolicy(),
    }),
  );
  return stack.move();
}

export async function connect({ amqpUrl }: Place): Promise<Caller> {
  await startTelemetry({ service: "bench-fast-caller", logTo: "stderr" });
  return connectToolCaller(await connectBus(amqpUrl), TOOL);
}
