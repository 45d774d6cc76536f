import { boundedTrust } from "../foreign-words.ts";
import type { ToolError as ToolErrorMessage, ToolInvokeRequest, ToolInvokeResponse } from "../generated/types.ts";
import { ToolError } from "../tool-error.ts";

/** The answer to a tool request that failed: a ToolError in its form on the bus. */
export function errorReply(
  request: Pick<ToolInvokeRequest, "toolCallId" | "toolName">,
  error: ToolError,
): ToolErrorMessage {
  return {
    toolCallId: request.toolCallId,
    toolName: request.toolName,
    code: error.code,
    message: error.message,
    isRetryable: error.isRetryable,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(error.retryAfterMs) }),
    ...(error.details === undefined ? {} : { details: error.details as ToolErrorMessage["details"] }),
    ...(error.trust == null ? {} : { trust: boundedTrust(error.trust) }),
  } as ToolErrorMessage;
}

/** The error that a ToolError message stands for. */
export function toolErrorFrom(message: ToolErrorMessage): ToolError {
  return new ToolError(message.code, message.message, {
    isRetryable: message.isRetryable ?? false,
    retryAfterMs: message.retryAfterMs ?? undefined,
    details: message.details ?? undefined,
    trust: message.trust ?? undefined,
  });
}

/** A response with every optional field written, as the original does. */
export function textResponse(
  request: Pick<ToolInvokeRequest, "toolCallId" | "toolName">,
  content: string | null,
  more: Partial<ToolInvokeResponse> = {},
): ToolInvokeResponse {
  return { toolCallId: request.toolCallId, toolName: request.toolName, content, isError: false, ...more };
}
