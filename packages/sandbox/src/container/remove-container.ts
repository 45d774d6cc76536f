import { setTimeout } from "node:timers/promises";
import { backoffMs } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import type { EngineApi } from "./engine-api.ts";
import { EngineError } from "./engine-error.ts";

const ATTEMPTS = 6;

/** Ends and removes a container, with some patience: what is not removed then is left to the reaper. Never rejects. */
export async function removeContainer(api: EngineApi, name: string, log: Logger): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await api.call({ method: "DELETE", path: `/containers/${name}`, query: { force: "true", v: "true" } });
      return;
    } catch (error) {
      if (error instanceof EngineError && error.status === 404) return;
      if (failures === ATTEMPTS) {
        log.warn({ error: String(error), name }, "could not remove a container, and retries later");
        return;
      }
    }
    await setTimeout(backoffMs(failures, { leastPart: 0.5 }), undefined, { ref: false });
  }
}
