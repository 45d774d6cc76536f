import { readFile } from "node:fs/promises";
import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ConfigError } from "@rockbot/contracts";
import { readVariable } from "@rockbot/process/config";
import { fingerprintOf, type RestFile, readRestFile } from "./read-rest-file.ts";

export interface WatchRestFileOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** How often the file is looked at, in milliseconds. @default 1_000 */
  readonly everyMs?: number | undefined;
}

/**
 * Hands on what the file says whenever it changes, or a file that holds one of its variables does, until disposed. A
 * change that has faults changes nothing; they are logged.
 * @param now what was read of it already
 */
export function watchRestFile(
  file: string,
  now: RestFile,
  apply: (content: RestFile) => Promise<void>,
  { env, log, everyMs = 1_000 }: WatchRestFileOptions,
): AsyncDisposable {
  let { variables, fingerprint: seen } = now;
  return startLoop(everyMs, async () => {
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => `unreadable: ${error.code}`);
    const fingerprint = fingerprintOf(
      text,
      variables.map((name) => readVariable(name, env)),
    );
    if (fingerprint === seen) return;
    seen = fingerprint;
    try {
      const content = readRestFile(file, env);
      variables = content.variables;
      seen = content.fingerprint;
      await apply(content);
      log.info(
        { file, endpoints: content.operations.length, documents: content.imports.length },
        "reloaded the file of REST tools",
      );
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.error(
        { file, faults: error.faults },
        "refused the changed file of REST tools, and keeps what was loaded before",
      );
    }
  });
}
