import { connectBus } from "@rockbot/bus-rabbitmq";
import { startTelemetry } from "@rockbot/process/telemetry";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { serveTools } from "@rockbot/tools";
import { type Caller, type Place, SERVICE_CONCURRENCY } from "../contender.ts";
import { echoSet } from "./echo-tool.ts";
import { benchPolicy, connectToolCaller } from "./tool-caller.ts";

/** As rockbot, with a tool that is neither read-only nor idempotent: each call is claimed in Redis before it runs. */
const TOOL = "bench_write";

export async function serve({ amqpUrl, redisUrl }: Place): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  stack.use(await startTelemetry({ service: "bench-write", logTo: "stderr" }));
  const claims = stack.use(await connectRedisClaimStore(redisUrl));
  const bus = stack.use(await connectBus(amqpUrl));
  stack.use(
    await serveTools(bus, echoSet(TOOL, { readOnly: false }), {
      service: "bench-write",
      concurrency: SERVICE_CONCURRENCY,
      policy: await benchPolicy(),
      claims,
    }),
  );
  return stack.move();
}

export async function connect({ amqpUrl }: Place): Promise<Caller> {
  await startTelemetry({ service: "bench-write-caller", logTo: "stderr" });
  return connectToolCaller(await connectBus(amqpUrl), TOOL);
}
