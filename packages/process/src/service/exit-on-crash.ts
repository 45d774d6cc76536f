import type { Logger } from "@rockbot/bus";

/**
 * From now on an uncaught error or rejection is logged once, and ends the process with code 1. Its state is unknown
 * then, and a supervisor starts a new process. For a `main.ts` only. It stays in force to the end, so that the log also
 * has a start that fails.
 */
export function exitOnCrash(log: Logger): void {
  process.on("uncaughtException", (error: unknown, origin) => {
    try {
      log.error({ err: error, origin }, "the process ends because of an uncaught error");
    } finally {
      process.exit(1);
    }
  });
}
