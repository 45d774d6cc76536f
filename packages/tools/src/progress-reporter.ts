import type { Bus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages, type ToolInvokeRequest } from "@rockbot/contracts";
import { redact } from "@rockbot/redaction";
import type { ProgressUpdate } from "./tool-executor.ts";

/** Updates of one call are at least this far apart. */
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
 * Sends a call's updates to where its result goes: the first at once, then the newest one each INTERVAL_MS, in order.
 * Without a result topic it does nothing.
 */
export function progressReporter(bus: Bus, source: string, request: ToolInvokeRequest, resultTopic: string | undefined): ProgressReporter {
  const topic = resultTopic === undefined ? undefined : progressTopic(resultTopic);
  return topic === undefined ? silentReporter : reportTo(topic, bus, source, request);
}

export interface ProgressReporter {
  report(this: void, update: ProgressUpdate): void;
  /** Nothing is sent any more: the answer follows. */
  end(): void;
}

const silentReporter: ProgressReporter = { report() {}, end() {} };

function reportTo(topic: string, bus: Bus, source: string, request: ToolInvokeRequest): ProgressReporter {
  let sequence = 0;
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
    timer = setTimeout(() => {
      timer = undefined;
      if (newest === undefined) return;
      const update = newest;
      newest = undefined;
      send(update);
    }, INTERVAL_MS);
  }

  return {
    report(update) {
      if (isOver) return;
      if (timer === undefined) send(update);
      else newest = update;
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
