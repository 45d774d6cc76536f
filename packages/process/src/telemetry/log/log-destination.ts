import { metrics } from "@opentelemetry/api";
import { type DestinationStream, pino } from "pino";

/**
 * Lines that wait for a reader that does not keep up. Beyond it lines are dropped and counted: a log never stops the
 * work.
 */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Where log lines go. Written in the background, and what is left at the end of the process before it exits. */
export function logDestination(to: "stdout" | "stderr"): DestinationStream {
  const destination = pino.destination({ fd: to === "stdout" ? 1 : 2, sync: false, maxLength: MAX_WAITING_BYTES });
  destination.on("drop", () =>
    metrics
      .getMeter("@rockbot/telemetry")
      .createCounter("rockbot.log.dropped", { description: "Log lines dropped since their reader does not keep up." })
      .add(1),
  );
  return destination;
}
