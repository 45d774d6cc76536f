import { redact } from "@rockbot/base/redaction";
import { encodeMessage, type ToolInvokeRequest } from "@rockbot/contracts";
import type { McpCallOptions } from "@rockbot/mcp";
import { paceUpdates, type UpdatePace } from "@rockbot/tools";

const MAX_MESSAGE = 1_024;

type Update = Parameters<McpCallOptions["onProgress"]>[0];

/** Sends a call's progress on between replicas, paced as it is between a service and a caller. */
export function progressRelay(
  { toolCallId, toolName }: ToolInvokeRequest,
  send: (body: Uint8Array) => void,
): UpdatePace<Update> {
  let sequence = 0;
  return paceUpdates(({ progress, total, message }) => {
    const text = message === undefined ? null : redact(message).slice(0, MAX_MESSAGE);
    send(
      encodeMessage("ToolProgress", {
        toolCallId,
        toolName,
        sequence: sequence++,
        progress,
        total: total ?? null,
        message: text,
      }),
    );
  });
}
