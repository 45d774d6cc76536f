import type { Bus } from "@rockbot/bus";
import type { AgentEvent } from "@rockbot/contracts";
import { SessionHub } from "@rockbot/gateway/chat";
import type { PolicyHolder } from "@rockbot/policy";
import { listTools, type ToolCaller } from "@rockbot/tools";
import type { ToolClient } from "./tool-client.ts";

export interface CallerClientOptions {
  /** The place in words, for the user. */
  readonly where: string;
  readonly keepsRuns: boolean;
  readonly bus: Bus;
  readonly policy: PolicyHolder | undefined;
  /** As whose all of it is asked for. @default the caller's own */
  readonly onBehalfOf?: string | undefined;
}

/** A client over a caller in this process; owns what `parts` holds. */
export function callerClient(
  caller: ToolCaller,
  { where, keepsRuns, bus, policy, onBehalfOf }: CallerClientOptions,
  parts: AsyncDisposableStack,
): ToolClient {
  const sessions = parts.use(new SessionHub(bus, caller, { policy }));
  return {
    where,
    keepsRuns,
    async listTools() {
      await caller.discovered();
      return listTools(caller.toolsOf(onBehalfOf ?? caller.agent));
    },
    listMissing: async () => (await caller.discovered()).missing,
    listOff: async () =>
      caller
        .heldFrom(onBehalfOf ?? caller.agent)
        .map((tool) => ({ tool, reason: "Held until an operator approves: rockbot mcp approve" })),
    getGuides: () => caller.getGuides(onBehalfOf),
    onChange: (listener) => caller.tools.onChange(listener),
    follow: (sessionId, turnId, signal) => follow(sessions, { by: onBehalfOf, sessionId, turnId }, signal),
    call: (name, args, options) => caller.call(name, args, { ...options, onBehalfOf }),
    [Symbol.asyncDispose]: async () => await parts[Symbol.asyncDispose](),
  };
}

/** No wait is without an end. */
const WAIT_MS = 30_000;

interface Followed {
  readonly by: string | undefined;
  readonly sessionId: string;
  readonly turnId: string | undefined;
}

async function follow(
  sessions: SessionHub,
  { by, sessionId, turnId }: Followed,
  signal: AbortSignal,
): Promise<AsyncIterable<AgentEvent>> {
  const listener = await sessions.listen(by, sessionId);
  if (turnId !== undefined) listener.startWith(turnId);
  return (async function* () {
    using _listener = listener;
    while (!signal.aborted) {
      await listener.wait(WAIT_MS, signal);
      yield* await listener.take();
    }
  })();
}
