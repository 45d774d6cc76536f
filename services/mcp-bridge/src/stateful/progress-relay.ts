import { encodeMessage, type ToolInvokeRequest } from "@rockbot/contracts";
import type { McpCallOptions } from "@rockbot/mcp";
import { redact } from "@rockbot/redaction";

/** Updates of one call are at least this far apart. */
const INTERVAL_MS = 200;
const MAX_MESSAGE = 1_024;

type Update = Parameters<McpCallOptions["onProgress"]>[0];

export interface ProgressRelay extends Disposable {
  report(this: void, update: Update): void;
  /** Nothing is sent any more: the answer follows. */
  end(): void;
}

/** Sends a call's progress on between replicas: the first update at once, then the newest one each INTERVAL_MS. */
export function progressRelay({ toolCallId, toolName }: ToolInvokeRequest, send: (body: Uint8Array) => void): ProgressRelay {
  let sequence = 0;
  let newest: Update | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  function tell({ progress, total, message }: Update): void {
    const text = message === undefined ? null : redact(message).slice(0, MAX_MESSAGE);
    send(encodeMessage("ToolProgress", { toolCallId, toolName, sequence: sequence++, progress, total: total ?? null, message: text }));
    timer = setTimeout(() => {
      timer = undefined;
      const update = newest;
      newest = undefined;
      if (update !== undefined) tell(update);
    }, INTERVAL_MS);
  }

  function end(): void {
    isOver = true;
    clearTimeout(timer);
  }

  return {
    report(update) {
      if (isOver) return;
      if (timer === undefined) tell(update);
      else newest = update;
    },
    end,
    [Symbol.dispose]: end,
  };
}
