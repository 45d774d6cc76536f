import { runBusService } from "@rockbot/process/run-on-bus";
import type { BusService } from "./define-service.ts";
import { type Env, settingsFor } from "./load-settings.ts";
import { openState } from "./state.ts";

/** The life of a service of the list as a process of its own. For a main, as its one statement. */
export async function runOnBus(service: BusService, env: Env): Promise<void> {
  const { name, topic, state, deployment } = service;
  return runBusService({
    service: name,
    hasClients: deployment?.reachedBy === "outside",
    load: await settingsFor(service, env),
    start: async ({ records, ...parts }) =>
      service.start({ ...parts, ...(await openState(state, records)), env, service: name, topic }),
  });
}
