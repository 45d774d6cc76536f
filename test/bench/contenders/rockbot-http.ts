import { connectBus } from "@rockbot/bus-rabbitmq";
import { configSchema, startGateway } from "@rockbot/gateway";
import { loadConfig } from "@rockbot/process/config";
import { startTelemetry } from "@rockbot/process/telemetry";
import { serveTools } from "@rockbot/tools";
import { type Caller, MAX_CALLS_OUT, type Place } from "../contender.ts";
import { echoSet } from "./echo-tool.ts";
import { connectHttpCaller } from "./http-caller.ts";
import { benchPolicy } from "./tool-caller.ts";

/** As rockbot, called by HTTP through the gateway, which is a process of its own. */
const TOOL = "bench_http";

export async function serve({ amqpUrl }: Place): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await startTelemetry({ service: "bench-http", logTo: "stderr" }));
  const bus = stack.use(await connectBus(amqpUrl));
  stack.use(
    await serveTools(bus, echoSet(TOOL, { readOnly: true }), { service: "bench-http", policy: await benchPolicy() }),
  );
  return stack.move();
}

export async function front({ amqpUrl }: Place): Promise<string> {
  await startTelemetry({ service: "bench-gateway", logTo: "stderr" });
  const bus = await connectBus(amqpUrl);
  const env = { AGENT_NAME: "bench-gateway", PORT: "0", MAX_CONCURRENT: String(MAX_CALLS_OUT) };
  const { url } = await startGateway(bus, loadConfig(configSchema, { env }), { policy: await benchPolicy() });
  return url;
}

export async function connect(_: Place, front = ""): Promise<Caller> {
  return connectHttpCaller(front, TOOL);
}
