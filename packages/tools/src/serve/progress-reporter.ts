import { redact } from "@rockbot/base/redaction";
import type { Bus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages, type ToolInvokeRequest } from "@rockbot/contracts";
import type { ProgressUpdate } from "../define/tool-executor.ts";
import { PROGRESS_TTL_MS } from "../limits.ts";
import { paceUpdates, type UpdatePace } from "./pace-updates.ts";

const MAX_MESSAGE = 1_024;

/** The topic for the progress of calls that are answered on `resultTopic`; undefined for the shared default topic. */
export function progressTopic(resultTopic: string): string | undefined {
  const address = /^(?:tool|script)\.result\.(.+)$/.exec(resultTopic)?.[1];
  return address === undefined ? undefined : `tool.progress.${address}`;
}

/**
 * Sends a call's updates to where its result goes, paced. Without a result topic it does nothing.
 */
export function progressReporter(
  bus: Bus,
  source: string,
  request: ToolInvokeRequest,
  resultTopic: string | undefined,
): ProgressReporter {
  const topic = resultTopic === undefined ? undefined : progressTopic(resultTopic);
  return topic === undefined ? silentReporter : reportTo(topic, bus, source, request);
}

export interface ProgressReporter extends UpdatePace<ProgressUpdate> {
  /** How many updates have gone, so that the caller knows for how many to look. */
  readonly sent: number;
}

const silentReporter: ProgressReporter = { sent: 0, report() {}, end() {} };

function reportTo(
  topic: string,
  bus: Bus,
  source: string,
  { toolCallId, toolName }: ToolInvokeRequest,
): ProgressReporter {
  let sent = 0;
  const pace = paceUpdates(({ progress, total, message }: ProgressUpdate) => {
    const body = encodeMessage("ToolProgress", {
      toolCallId,
      toolName,
      sequence: sent++,
      progress: progress ?? null,
      total: total ?? null,
      message: message == null ? null : redact(message).slice(0, MAX_MESSAGE),
    });
    const envelope = createEnvelope({
      topic,
      type: messages.ToolProgress.type,
      source,
      body,
      correlationId: toolCallId,
      ttlMs: PROGRESS_TTL_MS,
    });
    bus.publish(envelope, { timeoutMs: PROGRESS_TTL_MS }).catch(() => {}); // progress may be lost
  });
  return {
    ...pace,
    get sent() {
      return sent;
    },
  };
}
