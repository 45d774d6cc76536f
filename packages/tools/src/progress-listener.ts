import type { Bus } from "@rockbot/bus";
import { decodeMessage, type Envelope, type ToolInvokeRequest } from "@rockbot/contracts";
import type { MessageMeter } from "./message-meter.ts";
import { progressTopic } from "./progress-reporter.ts";
import type { ProgressUpdate } from "./tool-executor.ts";

export interface ProgressListenerOptions {
  readonly replyTo: string;
  readonly address: string;
  /** Whether the message may tell of the tool's progress. */
  readonly isGenuine: (toolName: string, message: Envelope) => boolean;
  readonly meter: Pick<MessageMeter, "admits">;
}

/** Takes the progress of this caller's calls off the bus; subscribes with the first call that wants any. */
export function progressListener(bus: Bus, { replyTo, address, isGenuine, meter }: ProgressListenerOptions) {
  const topic = progressTopic(replyTo) ?? replyTo;
  const listeners = new Map<string, { last: number; readonly toolName: string; readonly onProgress: (update: ProgressUpdate) => void }>();
  let subscribed: Promise<AsyncDisposable> | undefined;

  function subscribe(): Promise<AsyncDisposable> {
    return bus.subscribe({ name: `progress.${address}`, topics: [topic], kind: "copy" }, async (message) => {
      if (!meter.admits("progress", message.userId ?? message.source, message.body.byteLength)) return;
      const update = decodeMessage("ToolProgress", message.body);
      if (!update.ok) return;
      const { toolCallId, sequence, progress, total, message: text } = update.value;
      const listener = listeners.get(toolCallId);
      if (listener === undefined || sequence <= listener.last || !isGenuine(listener.toolName, message)) return;
      listener.last = sequence;
      listener.onProgress({ progress: progress ?? undefined, total: total ?? undefined, message: text ?? undefined });
    });
  }

  return {
    /** Calls `onProgress` with each update of the call, in order, until it is forgotten. Never throws: a call goes on without progress. */
    async listen({ toolCallId, toolName }: Pick<ToolInvokeRequest, "toolCallId" | "toolName">, onProgress: (update: ProgressUpdate) => void): Promise<void> {
      listeners.set(toolCallId, { last: -1, toolName, onProgress });
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
