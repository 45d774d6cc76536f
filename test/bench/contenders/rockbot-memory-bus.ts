import { createMemoryBus } from "@rockbot/bus";
import { startTelemetry } from "@rockbot/process/telemetry";
import type { Caller } from "../contender.ts";
import { connectEcho, serveEcho } from "./bus-echo.ts";

/** Connects as rockbot-bus does, over the in-memory bus in one process. */
export async function connect(): Promise<Caller> {
  await startTelemetry({ service: "bench-memory-bus", logTo: "stderr" });
  const bus = createMemoryBus();
  await serveEcho(bus);
  return connectEcho(bus);
}
