import type { Logger } from "@rockbot/bus";

/**
 * From now on an error or a rejection that nobody caught is logged once and ends the process with code 1: its state is
 * unknown, and whoever supervises it starts a new one. For a `main.ts` only; stays in force to the end, so that a start
 * that fails is logged too.
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
