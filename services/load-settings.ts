import { exitOnConfigError } from "@rockbot/process/config";
import type { BusService, Server } from "./define-service.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * What loads the settings of a service from the environment, once they are right, and the files that they name. Faults
 * end the process with code 2.
 */
export async function settingsFor<Config>(
  service: BusService<string, Config> | Server<string, Config>,
  env: Env,
): Promise<() => Readonly<Config>> {
  const [load, { checkFiles }] = await Promise.all([service.loader(), service.settings()]);
  exitOnConfigError(() => checkFiles?.(load({ env }), env));
  return () => load({ env });
}
