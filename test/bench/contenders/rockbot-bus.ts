import { connectBus } from "@rockbot/bus-rabbitmq";
import { startTelemetry } from "@rockbot/process/telemetry";
import type { Caller, Place } from "../contender.ts";
import { connectEcho, serveEcho } from "./bus-echo.ts";

/** Our bus without tools on it, over RabbitMQ. */
export async function serve({ amqpUrl }: Place): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await startTelemetry({ service: "bench-bus", logTo: "stderr" }));
  const bus = stack.use(await connectBus(amqpUrl));
  stack.use(await serveEcho(bus));
  return stack.move();
}

export async function connect({ amqpUrl }: Place): Promise<Caller> {
  await startTelemetry({ service: "bench-bus-caller", logTo: "stderr" });
  return connectEcho(await connectBus(amqpUrl));
}
