import { DiagLogLevel, diag } from "@opentelemetry/api";
import { setGlobalErrorHandler } from "@opentelemetry/core";
import type { Log } from "./create-log.ts";

/** A collector that is away fails every few seconds; one line a minute says so. */
const QUIET_MS = 60_000;

/**
 * Makes the SDK's own faults, such as exports that fail, warnings in the log: at most one a minute, with the number
 * left out.
 */
export function reportFaults(log: Log): void {
  let quietUntil = -Infinity;
  let leftOut = 0;
  function report(error: unknown, details: readonly unknown[] = []): void {
    if (performance.now() < quietUntil) {
      leftOut += 1;
      return;
    }
    log.warn({ err: error, ...(details.length > 0 ? { details } : {}), leftOut }, "telemetry is incomplete");
    quietUntil = performance.now() + QUIET_MS;
    leftOut = 0;
  }
  const ignore = (): void => {};
  const warn = (message: string, ...details: unknown[]): void => report(message, details);
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((error) => report(error));
}
