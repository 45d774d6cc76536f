import { format } from "node:util";
import { redact } from "./secrets.ts";

/** The methods of `console` that libraries write their messages with. */
export type ConsoleMethod = "debug" | "error" | "info" | "log" | "warn";

/**
 * Hands what is written to the console, which libraries do past any log, to `write` instead: as one text, without this
 * process's secrets. It stays so until the process ends: what a library still has in hand may be written after
 * everything was disposed of.
 */
export function routeConsole(
  methods: readonly ConsoleMethod[],
  write: (text: string, method: ConsoleMethod) => void,
): void {
  for (const method of methods) console[method] = (...args: unknown[]) => write(redact(format(...args)), method);
}
