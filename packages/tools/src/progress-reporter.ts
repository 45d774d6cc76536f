import type { Bus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages, type ToolInvokeRequest } from "@rockbot/contracts";
import { redact } from "@rockbot/redaction";
import type { ProgressUpdate } from "./tool-executor.ts";

/** So many updates of one call are sent as they come; beyond that they are this far apart. */
const BURST = 10;
const INTERVAL_MS = 200;
/** An update that cannot be delivered at once is of no use. */
const TTL_MS = 5_000;
const MAX_MESSAGE = 1_024;

/** The topic for the progress of calls that are answered on `resultTopic`; undefined for the shared default topic. */
export function progressTopic(resultTopic: string): string | undefined {
  const address = /^(?:tool|script)\.result\.(.+)$/.exec(resultTopic)?.[1];
  return address === undefined ? undefined : `tool.progress.${address}`;
}

/**
 * Sends a call's updates to where its result goes, in order: at once, unless many come, of which the newest is sent each INTERVAL_MS. The last one is
 * always sent. Without a result topic it does nothing.
 */
export function progressReporter(bus: Bus, source: string, request: ToolInvokeRequest, resultTopic: string | undefined): ProgressReporter {
  const topic = resultTopic === undefined ? undefined : progressTopic(resultTopic);
  return topic === undefined ? silentReporter : reportTo(topic, bus, source, request);
}

export interface ProgressReporter {
  report(this: void, update: ProgressUpdate): void;
  /** Sends what is held back, and nothing any more: the answer follows. */
  end(): void;
}

const silentReporter: ProgressReporter = { report() {}, end() {} };

function reportTo(topic: string, bus: Bus, source: string, request: ToolInvokeRequest): ProgressReporter {
  let sequence = 0;
  /** When BURST may be sent at once again. */
  let restedAt = 0;
  let newest: ProgressUpdate | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  function send({ progress, total, message }: ProgressUpdate): void {
    const { toolCallId, toolName } = request;
    const body = encodeMessage("ToolProgress", {
      toolCallId,
      toolName,
      sequence: sequence++,
      progress: progress ?? null,
      total: total ?? null,
      message: message == null ? null : redact(message).slice(0, MAX_MESSAGE),
    });
    const envelope = createEnvelope({ topic, type: messages.ToolProgress.type, source, body, correlationId: toolCallId, ttlMs: TTL_MS });
    bus.publish(envelope, { timeoutMs: TTL_MS }).catch(() => {}); // progress may be lost
    restedAt = Math.max(restedAt, performance.now()) + INTERVAL_MS;
  }

  function sendNewest(): void {
    clearTimeout(timer);
    timer = undefined;
    const update = newest;
    newest = undefined;
    if (update !== undefined) send(update);
  }

  return {
    report(update) {
      if (isOver) return;
      newest = update;
      const heldMs = restedAt - performance.now() - (BURST - 1) * INTERVAL_MS;
      if (heldMs <= 0) sendNewest();
      else timer ??= setTimeout(sendNewest, heldMs);
    },
    end() {
      isOver = true;
      sendNewest();
    },
  };
}
