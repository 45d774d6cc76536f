import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import type { TaskStore } from "../store/task-store.ts";
import { attempts } from "./attempts.ts";

export interface EndWaitingOptions {
  /** How long a client may leave a question unanswered, in milliseconds. */
  readonly waitMs: number;
  readonly log: Logger;
}

/** A task waits at most so much longer than it may. */
const MAX_LOOK_MS = 60_000;

/**
 * Fails tasks whose client does not answer the agent's question in time. One of several gateways fails each. Disposal
 * ends it.
 */
export function endWaiting(store: TaskStore, { waitMs, log }: EndWaitingOptions): AsyncDisposable {
  const why = `The agent asked a question, and no answer came within ${inWords(waitMs)}. Send a message without a taskId, and with the contextId to go on.`;
  const attempt = attempts((err) =>
    log.warn({ err }, "tasks of A2A clients that wait for an answer could not be read, which is tried again"),
  );
  const look = async (): Promise<void> => {
    for (const note of await store.waiting(Date.now() - waitMs)) {
      const task = await store.read(note.by, note.id);
      if (task !== undefined) await store.write({ ...task, standing: "failed", why, updatedAt: Date.now() }, note);
    }
  };
  return startLoop(Math.min(MAX_LOOK_MS, Math.max(100, waitMs / 10)), () => attempt(look));
}

const inWords = (ms: number): string =>
  ms >= 3_600_000 ? `${Math.round(ms / 360_000) / 10} h` : `${Math.round(ms / 100) / 10} s`;
