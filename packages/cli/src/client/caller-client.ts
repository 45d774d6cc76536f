import type { Bus } from "@rockbot/bus";
import type { AgentEvent } from "@rockbot/contracts";
import { SessionHub } from "@rockbot/gateway/chat";
import type { PolicyHolder } from "@rockbot/policy";
import { listTools, type ToolCaller } from "@rockbot/tools";
import type { ToolClient } from "./tool-client.ts";

export interface CallerClientOptions {
  /** In words, for the user. */
  readonly where: string;
  readonly bus: Bus;
  readonly policy: PolicyHolder | undefined;
}

/** A client over a caller in this process; owns what `parts` holds. */
export function callerClient(caller: ToolCaller, { where, bus, policy }: CallerClientOptions, parts: AsyncDisposableStack): ToolClient {
  const sessions = parts.use(new SessionHub(bus, caller, { policy }));
  return {
    where,
    async listTools() {
      await caller.discovered();
      return listTools(caller.toolsOf(caller.agent));
    },
    listMissing: async () => (await caller.discovered()).missing,
    listOff: async () => [],
    getGuides: () => caller.getGuides(),
    onChange: (listener) => caller.tools.onChange(listener),
    follow: (sessionId, turnId, signal) => follow(sessions, sessionId, turnId, signal),
    call: (name, args, options) => caller.call(name, args, options),
    [Symbol.asyncDispose]: async () => await parts[Symbol.asyncDispose](),
  };
}

/** No wait is without an end. */
const WAIT_MS = 30_000;

async function follow(sessions: SessionHub, sessionId: string, turnId: string, signal: AbortSignal): Promise<AsyncIterable<AgentEvent>> {
  const listener = await sessions.listen(undefined, sessionId);
  listener.startWith(turnId);
  return (async function* () {
    using _listener = listener;
    while (!signal.aborted) {
      await listener.wait(WAIT_MS, signal);
      yield* await listener.take();
    }
  })();
}
