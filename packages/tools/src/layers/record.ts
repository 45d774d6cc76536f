import { metrics, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { ToolInvokeRequest, ToolInvokeResponse } from "@rockbot/contracts";
import { toToolError } from "../to-tool-error.ts";
import type { ToolContext, ToolLayer } from "../tool-executor.ts";

export interface RecordNames {
  /** The span's name, before the tool's. */
  readonly span: string;
  /** The histogram of milliseconds, tagged `tool_name` and `status`. */
  readonly duration: string;
  /** The counter, with the same tags. */
  readonly count: string;
}

/** What the side that runs a tool records. */
export const servingNames: RecordNames = { span: "tool.invoke", duration: "rockbot.tool.invoke.duration", count: "rockbot.tool.invocations" };
/** What the side that calls a tool records: other names, so that nothing counts twice. */
export const callingNames: RecordNames = { span: "tool.call", duration: "rockbot.tool.call.duration", count: "rockbot.tool.calls" };

/** A span, a duration, a count, sizes, and a log line for each start and end. Status is `ok`, `tool_error` or the error's code. */
export function record(names: RecordNames): ToolLayer {
  const tracer = trace.getTracer("@rockbot/tools");
  /** Made with the first call: what is made before telemetry starts, such as while modules load, records nothing for ever. */
  let made: ReturnType<typeof makeInstruments> | undefined;

  return (next) => ({
    execute(request, context) {
      const { toolName, toolCallId } = request;
      return tracer.startActiveSpan(
        `${names.span} ${toolName}`,
        { kind: SpanKind.INTERNAL, attributes: { "rockbot.tool.name": toolName, "rockbot.tool.call_id": toolCallId } },
        async (span) => {
          made ??= makeInstruments(names);
          const { count, duration } = made;
          const start = performance.now();
          const bytesIn = request.arguments?.length ?? 0;
          let status = "ok";
          let bytesOut = 0;
          context.log.debug({ event: "tool_started", toolName, toolCallId, caller: context.caller, bytesIn }, "tool started");
          try {
            const response = await execute(next, request, context);
            bytesOut = response.content?.length ?? 0;
            if (response.isError === true) status = "tool_error";
            return response;
          } catch (error) {
            status = toToolError(error, toolName).code;
            throw error;
          } finally {
            const durationMs = performance.now() - start;
            finish(span, status, bytesIn, bytesOut);
            count.add(1, { tool_name: toolName, status });
            duration.record(durationMs, { tool_name: toolName, status });
            context.log.debug({ event: "tool_finished", toolName, toolCallId, caller: context.caller, status, durationMs, bytesIn, bytesOut }, "tool finished");
          }
        },
      );
    },
  });
}

function makeInstruments(names: RecordNames) {
  const meter = metrics.getMeter("@rockbot/tools");
  return {
    duration: meter.createHistogram(names.duration, { unit: "ms", description: "Time from the call's start to its end." }),
    count: meter.createCounter(names.count, { description: "Calls that ended, by status." }),
  };
}

/** An executor may throw before it returns a promise. */
async function execute(next: Parameters<ToolLayer>[0], request: ToolInvokeRequest, context: ToolContext): Promise<ToolInvokeResponse> {
  return next.execute(request, context);
}

function finish(span: Span, status: string, bytesIn: number, bytesOut: number): void {
  span.setAttributes({ "rockbot.tool.status": status, "rockbot.tool.bytes_in": bytesIn, "rockbot.tool.bytes_out": bytesOut });
  if (status !== "ok") span.setStatus({ code: SpanStatusCode.ERROR, message: status });
  span.end();
}
