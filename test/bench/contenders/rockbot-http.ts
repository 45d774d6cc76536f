import { once } from "node:events";
import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { loadConfig } from "@rockbot/config";
import type { ToolInvokeResponse } from "@rockbot/contracts";
import { configSchema, startGateway } from "@rockbot/gateway";
import { startTelemetry } from "@rockbot/telemetry";
import { serveTools } from "@rockbot/tools";
import { type Caller, MAX_CALLS_OUT, type Place } from "../contender.ts";
import { echoSet } from "./echo-tool.ts";
import { benchPolicy, payloadOf } from "./tool-caller.ts";

/** As rockbot, called by HTTP through the gateway, which is a process of its own. */
const TOOL = "bench_http";

export async function serve({ amqpUrl }: Place): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await startTelemetry({ service: "bench-http", logTo: "stderr" }));
  const bus = stack.use(await connectBus(amqpUrl));
  stack.use(await serveTools(bus, echoSet(TOOL, { readOnly: true }), { service: "bench-http", policy: await benchPolicy() }));
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
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CALLS_OUT });
  const url = new URL(`/v1/tools/${TOOL}/invoke`, front);
  return {
    async call(payload) {
      const sent = request(url, { method: "POST", agent, headers: { "content-type": "application/json" } });
      sent.end(JSON.stringify(payload));
      const [response] = await once(sent, "response");
      const answer = (await json(response)) as ToolInvokeResponse;
      if (response.statusCode !== 200) throw new Error(`the gateway answers ${response.statusCode}: ${JSON.stringify(answer).slice(0, 200)}`);
      return payloadOf(answer);
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
    },
  };
}
