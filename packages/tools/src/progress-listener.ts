import type { Bus } from "@rockbot/bus";
import { decodeMessage } from "@rockbot/contracts";
import { progressTopic } from "./progress-reporter.ts";
import type { ProgressUpdate } from "./tool-executor.ts";

/** Takes the progress of this caller's calls off the bus; subscribes with the first call that wants any. */
export function progressListener(bus: Bus, replyTo: string, address: string) {
  const topic = progressTopic(replyTo) ?? replyTo;
  const listeners = new Map<string, { last: number; onProgress: (update: ProgressUpdate) => void }>();
  let subscribed: Promise<AsyncDisposable> | undefined;

  function subscribe(): Promise<AsyncDisposable> {
    return bus.subscribe({ name: `progress.${address}`, topics: [topic], kind: "copy" }, async ({ body }) => {
      const update = decodeMessage("ToolProgress", body);
      if (!update.ok) return;
      const { toolCallId, sequence, progress, total, message } = update.value;
      const listener = listeners.get(toolCallId);
      if (listener === undefined || sequence <= listener.last) return;
      listener.last = sequence;
      listener.onProgress({ progress: progress ?? undefined, total: total ?? undefined, message: message ?? undefined });
    });
  }

  return {
    /** Calls `onProgress` with each update of the call, in order, until it is forgotten. Never throws: a call goes on without progress. */
    async listen(toolCallId: string, onProgress: (update: ProgressUpdate) => void): Promise<void> {
      listeners.set(toolCallId, { last: -1, onProgress });
      subscribed ??= subscribe();
      await subscribed.catch(() => {
        subscribed = undefined;
      });
    },
    forget(toolCallId: string): void {
      listeners.delete(toolCallId);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await (await subscribed?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
