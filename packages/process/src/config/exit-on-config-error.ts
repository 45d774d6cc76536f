import { writeSync } from "node:fs";
import { ConfigError } from "@rockbot/contracts";

/**
 * What `load` returns, or resolves to. A ConfigError becomes its message on standard error and exit code 2: wrong usage, for
 * people and for supervisors that should not start the process again. For a `main.ts` only.
 */
export function exitOnConfigError<T>(load: () => T): T {
  try {
    const loaded = load();
    return loaded instanceof Promise ? (loaded.catch(exit) as T) : loaded;
  } catch (error) {
    return exit(error);
  }
}

function exit(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  // Synchronous, since an asynchronous write to a pipe may be cut off by the exit.
  writeSync(process.stderr.fd, `${error.message}\n`);
  process.exit(2);
}
