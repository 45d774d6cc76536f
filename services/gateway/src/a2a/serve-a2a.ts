import {
  a2aCard,
  a2aPaths,
  createMemoryTaskStore,
  endWaiting,
  RunningTasks,
  TaskDesk,
  TaskPushes,
  type TaskStore,
} from "@rockbot/a2a/serve";
import type { Logger } from "@rockbot/bus";
import type { ToolCaller } from "@rockbot/tools";
import type { GatewayConfig } from "../generated/config.ts";
import type { SessionHub } from "../sessions/session-hub.ts";
import { type A2aDoor, type A2aDoorOptions, a2aDoor } from "./a2a-door.ts";

export interface ServeA2aOptions {
  /** @default the memory of this process */
  readonly tasks: TaskStore | undefined;
  readonly sessions: SessionHub;
  /** True if requests need a token now. */
  readonly needsToken: () => boolean;
  /** Aborts when streams end, as the process stops. */
  readonly ending: AbortSignal;
  readonly log: Logger;
}

/** The agents, served by A2A. Disposal leaves its tasks to the next gateway. */
export interface ServedA2a extends AsyncDisposable {
  readonly door: (parts: Pick<A2aDoorOptions, "headers" | "stallMs">) => A2aDoor;
  /** Goes on with the tasks that a gateway before this one has left. */
  takeUp(): Promise<void>;
}

/**
 * Serves the plain agent, and those that the settings name, by A2A at the address at which the settings say that
 * clients reach it.
 */
export function serveA2a(
  caller: ToolCaller,
  {
    a2aUrl: url,
    a2aAgents,
    a2aPush,
    a2aPushAddresses,
    a2aInputWaitMs: waitMs,
    maxCallTimeoutMs,
  }: Readonly<GatewayConfig> & { readonly a2aUrl: string },
  { tasks, sessions, needsToken, ending, log }: ServeA2aOptions,
): ServedA2a {
  const store = tasks ?? createMemoryTaskStore();
  const running = new RunningTasks(caller, { store, timeoutMs: maxCallTimeoutMs, log });
  const pushes = a2aPush
    ? new TaskPushes({ store, running, sessions, allowAddresses: a2aPushAddresses, log })
    : undefined;
  const waits = new AsyncDisposableStack();
  const agents = [undefined, ...a2aAgents].map((agent) => {
    const card = () => a2aCard({ url, needsToken: needsToken(), pushes: pushes !== undefined, agent });
    return { card, paths: a2aPaths(agent), desk: new TaskDesk({ card, agent, store, running, sessions, pushes }) };
  });
  return {
    door: (parts) => a2aDoor({ ...parts, agents, ending, log }),
    async takeUp() {
      pushes?.startTakingUp();
      waits.use(endWaiting(store, { waitMs, log }));
      try {
        for (const task of await store.open()) running.start(task);
      } catch (error) {
        log.warn(
          { err: error },
          "the tasks of A2A clients could not be read, and each is taken up when it is asked for",
        );
      }
    },
    async [Symbol.asyncDispose]() {
      await waits.disposeAsync();
      await pushes?.[Symbol.asyncDispose]();
      await running[Symbol.asyncDispose]();
    },
  };
}
