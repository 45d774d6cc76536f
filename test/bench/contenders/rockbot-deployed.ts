import { connectBus } from "@rockbot/bus-rabbitmq";
import { openPolicy } from "@rockbot/policy";
import { startTelemetry } from "@rockbot/process/telemetry";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import type { Caller, Place } from "../contender.ts";
import { DEPLOYED_AGENT, DEPLOYED_SERVICE, DEPLOYED_TOOL } from "../place/bench-policy.ts";
import { serveDeployed } from "../place/serve-deployed.ts";
import { echoSet } from "./echo-tool.ts";
import { connectToolCaller } from "./tool-caller.ts";

/** Serves as in docker-compose.yml, with the caller's journal in Redis. */
export const serve = (place: Place): Promise<AsyncDisposable> =>
  serveDeployed(place, echoSet(DEPLOYED_TOOL, { readOnly: false }), { service: DEPLOYED_SERVICE });

export async function connect({ amqpUrls, redisUrl, otlpUrl, policyFile }: Place): Promise<Caller> {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = otlpUrl;
  const { log } = await startTelemetry({ service: DEPLOYED_AGENT, logTo: "stderr" });
  const policy = await openPolicy(policyFile, { log });
  const journals = await connectRedisJournalStore(redisUrl);
  const bus = await connectBus(amqpUrls[DEPLOYED_AGENT] ?? "", { identity: "verified", log });
  return connectToolCaller(bus, DEPLOYED_TOOL, { agent: DEPLOYED_AGENT, policy, journals });
}
