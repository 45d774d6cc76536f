import { writeSync } from "node:fs";
import { ConfigError } from "@rockbot/contracts";

/**
 * Returns the result of `load`. A ConfigError becomes its message on standard error, and exit code 2. The code means
 * wrong usage, so that a supervisor does not start the process again. For a `main.ts` only.
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
