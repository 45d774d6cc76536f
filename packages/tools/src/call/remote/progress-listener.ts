import { within } from "@rockbot/base";
import type { Bus } from "@rockbot/bus";
import { decodeMessage, type Envelope, type ToolInvokeRequest } from "@rockbot/contracts";
import type { ProgressUpdate } from "../../define/tool-executor.ts";
import { METERED, type MessageMeter } from "../../messages/message-meter.ts";
import { progressTopic } from "../../serve/progress-reporter.ts";

export interface ProgressListenerOptions {
  readonly replyTo: string;
  readonly address: string;
  /** Tells whether the message may be about the tool's progress. */
  readonly isGenuine: (toolName: string, message: Envelope) => boolean;
  readonly meter: Pick<MessageMeter, "admits">;
}

/** An answer is held back for at most this long until the updates are here that went before it. */
const REST_MS = 250;

interface Listener {
  /** The number of the newest update, from 0 on. */
  last: number;
  onHeard: () => void;
  readonly toolName: string;
  readonly onProgress: (update: ProgressUpdate) => void;
}

/** Takes the progress of this caller's calls off the bus; subscribes with the first call that wants any. */
export function progressListener(bus: Bus, { replyTo, address, isGenuine, meter }: ProgressListenerOptions) {
  const topic = progressTopic(replyTo) ?? replyTo;
  const listeners = new Map<string, Listener>();
  let subscribed: Promise<AsyncDisposable> | undefined;

  function subscribe(): Promise<AsyncDisposable> {
    return bus.subscribe(
      { name: `progress.${address}`, topics: [topic], kind: "copy", ...METERED },
      async (message) => {
        if (!meter.admits("progress", message.userId ?? message.source, message.body.byteLength)) return;
        const update = decodeMessage("ToolProgress", message.body);
        if (!update.ok) return;
        const { toolCallId, sequence, progress, total, message: text } = update.value;
        const listener = listeners.get(toolCallId);
        if (listener === undefined || sequence <= listener.last || !isGenuine(listener.toolName, message)) return;
        listener.last = sequence;
        listener.onProgress({ progress: progress ?? undefined, total: total ?? undefined, message: text ?? undefined });
        listener.onHeard();
      },
    );
  }

  return {
    /**
     * Calls `onProgress` with each update of the call, in order, until it is forgotten. Never throws: a call goes on
     * without progress.
     */
    async listen(
      { toolCallId, toolName }: Pick<ToolInvokeRequest, "toolCallId" | "toolName">,
      onProgress: (update: ProgressUpdate) => void,
    ): Promise<void> {
      listeners.set(toolCallId, { last: -1, onHeard: () => {}, toolName, onProgress });
      subscribed ??= subscribe();
      await subscribed.catch(() => {
        subscribed = undefined;
      });
    },
    /**
     * Resolves once all updates are here that went before the call's answer, at the latest after REST_MS. The answer
     * comes another way and may overtake updates, and progress may be lost.
     */
    async heardAll(toolCallId: string, sent: number): Promise<void> {
      const listener = listeners.get(toolCallId);
      if (listener === undefined || listener.last >= sent - 1) return;
      const all = Promise.withResolvers<void>();
      listener.onHeard = () => listener.last >= sent - 1 && all.resolve();
      await within(REST_MS, all.promise, () => new Error("not heard")).catch(() => {});
    },
    forget(toolCallId: string): void {
      listeners.delete(toolCallId);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await (await subscribed?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
