import { exitOnConfigError } from "@rockbot/process/config";
import type { BusService, Server } from "./define-service.ts";

/** The life of one service of the list as a process of its own. For a main, as its one statement. */
export async function runListed(service: BusService | Server, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const [loadSettings, { checkFiles }] = await Promise.all([service.loader(), service.settings()]);
  const load = () => loadSettings({ env }) as never;
  exitOnConfigError(() => checkFiles?.(load(), env));
  if (!service.onBus) {
    const { runService } = await import("@rockbot/process/run");
    return runService({ service: service.name, load, start: ({ config, log, signal }) => service.start({ config, env, log, signal }) });
  }
  const [{ runBusService }, { openState }] = await Promise.all([import("@rockbot/process/run-on-bus"), import("./open-state.ts")]);
  return runBusService({
    service: service.name,
    load,
    start: async ({ records, ...parts }) =>
      service.start({ ...parts, ...(await openState(service.state, records)), env, service: service.name, topic: service.topic }),
  });
}
