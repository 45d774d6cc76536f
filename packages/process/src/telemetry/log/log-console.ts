import { routeConsole } from "@rockbot/base/redaction";
import type { Logger } from "@rockbot/bus";

/**
 * Puts what libraries write to the console into the log, with `source: "console"`, until the process ends. An error is
 * a warning there, as a server's library calls the faults of its clients so. For a `main.ts` only.
 */
export function logConsole(log: Logger): void {
  routeConsole(["debug", "error", "info", "log", "warn"], (text, method) => {
    const level = method === "debug" ? "debug" : method === "error" || method === "warn" ? "warn" : "info";
    log[level]({ source: "console" }, text);
  });
}
