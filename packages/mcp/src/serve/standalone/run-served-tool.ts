import type { CallToolResult } from "@modelcontextprotocol/server";
import { type Histogram, metrics } from "@opentelemetry/api";
import { redact } from "@rockbot/base/redaction";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { argumentFaults } from "./argument-faults.ts";
import type { ServedTool } from "./served-tool.ts";

/** Made with the first call: by then telemetry has started. */
let duration: Histogram | undefined;

export interface RunServedToolOptions {
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Runs a call of one of our own tools. A failure is a result, too, as the protocol has it. Its text is for the model.
 * Its structured content has `code`, `isRetryable` and, if it is known, `retryAfterMs`. No secret of this process is in
 * it.
 */
export async function runServedTool(
  tool: ServedTool,
  args: unknown,
  { signal, log }: RunServedToolOptions,
): Promise<CallToolResult> {
  const startedAt = performance.now();
  let status = "ok";
  try {
    const faults = argumentFaults(tool.inputSchema, args);
    if (faults.length > 0)
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `"${tool.name}" does not take these arguments: ${faults.join("; ")}`,
      );
    return { content: [{ type: "text", text: redact(await tool.run(args as Record<string, unknown>, { signal })) }] };
  } catch (error) {
    const failure =
      error instanceof ToolError
        ? error
        : new ToolError(ToolErrorCode.ExecutionFailed, `"${tool.name}" failed. The operator finds more in its log.`);
    status = failure.code;
    log.warn({ tool: tool.name, code: failure.code, err: error }, "a call failed");
    return failed(failure);
  } finally {
    duration ??= metrics.getMeter("@rockbot/mcp").createHistogram("rockbot.mcp.served.duration", {
      unit: "ms",
      description: "Time of calls that this MCP server ran.",
    });
    duration.record(performance.now() - startedAt, { tool_name: tool.name, status });
  }
}

function failed({ message, code, isRetryable, retryAfterMs }: ToolError): CallToolResult {
  return {
    content: [{ type: "text", text: redact(message) }],
    structuredContent: { code, isRetryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    isError: true,
  };
}
