import { pause } from "@rockbot/base";
import type { ToolCaller } from "@rockbot/tools";

/** A service of this process announces its tools as it starts, so its list is a few turns of the event loop away. */
const LOOK_AGAIN_MS = 2;
/** A list that is later than this is shown by `rockbot tools`, and not by the start. */
const HEARD_WITHIN_MS = 1_000;

/** Resolves once the caller has the lists of these services, or does not have them in time. */
export async function untilHeard(caller: ToolCaller, services: readonly string[]): Promise<void> {
  const until = performance.now() + HEARD_WITHIN_MS;
  for (;;) {
    const { services: heard } = await caller.discovered();
    if (services.every((name) => heard.includes(name)) || performance.now() > until) return;
    await pause(LOOK_AGAIN_MS);
  }
}
