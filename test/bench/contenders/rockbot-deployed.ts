import { connectBus } from "@rockbot/bus-rabbitmq";
import { openPolicy } from "@rockbot/policy";
import { startTelemetry } from "@rockbot/process/telemetry";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import type { Caller, Place } from "../contender.ts";
import { deployedNames, parts } from "../place/bench-policy.ts";
import { serveDeployed } from "../place/serve-deployed.ts";
import { echoSet } from "./echo-tool.ts";
import { connectToolCaller } from "./tool-caller.ts";

/** The part that the contender's file names after a question mark, and does without. */
const without = parts.find((part) => import.meta.url.endsWith(`?${part}`));
const { agent, service, tool } = deployedNames(without);

/** Serves as in docker-compose.yml, with the caller's journal in Redis. */
export const serve = (place: Place): Promise<AsyncDisposable> =>
  serveDeployed(place, echoSet(tool, { readOnly: without === "claims" }), { service, without });

export async function connect({ amqpUrls, redisUrl, otlpUrl, policyFile }: Place): Promise<Caller> {
  if (without !== "export") process.env.OTEL_EXPORTER_OTLP_ENDPOINT = otlpUrl;
  const { log } = await startTelemetry({ service: agent, logTo: "stderr" });
  const policy = await openPolicy(policyFile, { log });
  const journals = without === "journal" ? undefined : await connectRedisJournalStore(redisUrl);
  const bus = await connectBus(amqpUrls[agent] ?? "", { identity: "verified", log });
  return connectToolCaller(bus, tool, { agent, policy, journals });
}
