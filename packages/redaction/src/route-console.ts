import { format } from "node:util";
import { redact } from "./secrets.ts";

export type ConsoleMethod = "debug" | "error" | "info" | "log" | "warn";

/**
 * Hands what is written to the console, which libraries do past any log, to `write` instead: as one text, without this process's secrets. Disposal
 * gives the console back.
 */
export function routeConsole(methods: readonly ConsoleMethod[], write: (text: string, method: ConsoleMethod) => void): Disposable {
  const before = methods.map((method) => [method, console[method]] as const);
  for (const method of methods) console[method] = (...args: unknown[]) => write(redact(format(...args)), method);
  return {
    [Symbol.dispose]() {
      for (const [method, original] of before) console[method] = original;
    },
  };
}
