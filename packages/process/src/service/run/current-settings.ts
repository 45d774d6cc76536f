import type { Logger } from "@rockbot/bus";
import { ConfigError } from "@rockbot/process/config";

/** Settings are read again after this time. A secret that has changed holds from then on. */
const FRESH_MS = 5_000;

export interface CurrentSettingsOptions {
  readonly log: Logger;
  /** Milliseconds, which never go back. @default performance.now */
  readonly now?: (() => number) | undefined;
}

/**
 * The settings of a process as they are now: secrets lie in files that somebody may change. Settings with faults change
 * nothing, and the log says so once.
 * @param first those that the process has started with
 */
export function currentSettings<Config>(
  first: Config,
  load: () => Config,
  { log, now = () => performance.now() }: CurrentSettingsOptions,
): () => Config {
  let settings = first;
  let readAt = now();
  let isFaulty = false;
  return () => {
    if (now() - readAt < FRESH_MS) return settings;
    readAt = now();
    try {
      settings = load();
      isFaulty = false;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (!isFaulty) log.error({ reason: error.message }, "could not reload the settings, and uses the last ones");
      isFaulty = true;
    }
    return settings;
  };
}
