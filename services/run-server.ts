import { runService } from "@rockbot/process/run";
import type { Server } from "./define-service.ts";
import { type Env, settingsFor } from "./load-settings.ts";

/** The life of a server of the list as a process of its own, without a bus. For a main, as its one statement. */
export async function runServer(server: Server, env: Env): Promise<void> {
  return runService({
    service: server.name,
    load: await settingsFor(server, env),
    start: ({ config, current, log, signal }) => server.start({ config, current, env, log, signal }),
  });
}
