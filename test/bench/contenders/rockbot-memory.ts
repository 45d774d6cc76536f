import { createMemoryBus } from "@rockbot/bus";
import { startTelemetry } from "@rockbot/process/telemetry";
import { serveTools } from "@rockbot/tools";
import { type Caller, SERVICE_CONCURRENCY } from "../contender.ts";
import { echoSet } from "./echo-tool.ts";
import { benchPolicy, connectToolCaller } from "./tool-caller.ts";

const TOOL = "bench_memory";

/** Connects as rockbot does, over the in-memory bus in one process. */
export async function connect(): Promise<Caller> {
  await startTelemetry({ service: "bench-memory", logTo: "stderr" });
  const bus = createMemoryBus();
  await serveTools(bus, echoSet(TOOL, { readOnly: true }), {
    service: "bench-memory",
    concurrency: SERVICE_CONCURRENCY,
    policy: await benchPolicy(),
  });
  return connectToolCaller(bus, TOOL);
}
