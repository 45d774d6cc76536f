import { type Attributes, metrics, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { remembered } from "@rockbot/base";
import { ToolErrorCode, type ToolInvokeRequest } from "@rockbot/contracts";
import type { ToolContext, ToolLayer } from "../define/tool-executor.ts";
import { SupersededError } from "../superseded-error.ts";
import { toToolError } from "../to-tool-error.ts";
import type { CallTally } from "./call-tally.ts";

export interface RecordNames {
  /** The side that records, in its log lines: both may write to one log. */
  readonly side: "caller" | "service";
  /** The span's kind: that of the end of a message that it stands for, if there is one. */
  readonly kind: SpanKind;
  /** The histogram of milliseconds, tagged `tool_name` and `status`. */
  readonly duration: string;
  /** The counter, with the same tags. */
  readonly count: string;
  /** The histogram of the time that was left until the deadline, tagged `tool_name`; not every side measures it. */
  readonly margin?: string;
}

/** The names of what the side that runs a tool records. */
export const servingNames: RecordNames = {
  side: "service",
  kind: SpanKind.CONSUMER,
  duration: "rockbot.tool.invoke.duration",
  count: "rockbot.tool.invocations",
  margin: "rockbot.tool.margin.duration",
};
/** The names of what the side that runs a tool of its own process records. */
export const localNames: RecordNames = { ...servingNames, kind: SpanKind.INTERNAL };
/** The names of what the side that calls a tool records. They differ, so that nothing counts twice. */
export const callingNames: RecordNames = {
  side: "caller",
  kind: SpanKind.PRODUCER,
  duration: "rockbot.tool.call.duration",
  count: "rockbot.tool.calls",
};

/** The label of names that nobody serves: callers choose them, and each label is kept for ever. */
export const UNKNOWN_TOOL = "unknown";

/**
 * A span, a duration, a count, sizes, and a log line for each start and end. Status is `ok`, `tool_error`, `superseded`,
 * `parked` or the error's code. The span is also that of the call's message, so that a call has one span in each process; `hop`
 * has the message's attributes, and `tally` counts the calls of one service among those of its process.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
 */
export function record(names: RecordNames, hop: Attributes = {}, tally?: CallTally): ToolLayer {
  const tracer = trace.getTracer("@rockbot/tools");
  const meter = metrics.getMeter("@rockbot/tools");
  const duration = meter.createHistogram(names.duration, {
    unit: "ms",
    description: "Time from the call's start to its end.",
  });
  const count = meter.createCounter(names.count, { description: "Calls that ended, by status." });
  const margin =
    names.margin === undefined
      ? undefined
      : meter.createHistogram(names.margin, {
          unit: "ms",
          description: "Time that a call had left until its deadline when it ended; 0 if it was late.",
        });
  const named = remembered((toolName) => Object.freeze({ tool_name: toolName }));
  const succeeded = remembered((toolName) => Object.freeze({ tool_name: toolName, status: "ok" })); // the same frozen labels are found at once

  return (next) => ({
    execute(request, context) {
      const { toolName, toolCallId } = request;
      return tracer.startActiveSpan(
        `execute_tool ${toolName}`,
        {
          kind: names.kind,
          attributes: { ...hop, ...spanAttributes(request, context) },
        },
        async (span) => {
          const start = performance.now();
          const charactersIn = request.arguments?.length ?? 0;
          let status = "ok";
          let charactersOut = 0;
          tally?.began();
          context.log.debug(
            { event: "tool_started", side: names.side, toolName, toolCallId, caller: context.caller, charactersIn },
            "tool started",
          );
          try {
            const response = await next.execute(request, context);
            charactersOut = response.content?.length ?? 0;
            if (response.isError === true) status = "tool_error";
            return response;
          } catch (error) {
            status = error instanceof SupersededError ? error.status : toToolError(error, toolName).code;
            throw error;
          } finally {
            const durationMs = performance.now() - start;
            tally?.ended(status, durationMs);
            finish(span, status, charactersIn, charactersOut);
            const labels =
              status === "ok"
                ? succeeded(toolName)
                : { tool_name: status === ToolErrorCode.ToolNotFound ? UNKNOWN_TOOL : toolName, status };
            count.add(1, labels);
            duration.record(durationMs, labels);
            margin?.record(Math.max(0, context.deadline - start - durationMs), named(labels.tool_name));
            context.log.debug(
              {
                event: "tool_finished",
                side: names.side,
                toolName,
                toolCallId,
                caller: context.caller,
                status,
                durationMs,
                charactersIn,
                charactersOut,
              },
              "tool finished",
            );
          }
        },
      );
    },
  });
}

const spanAttributes = ({ toolName, toolCallId }: ToolInvokeRequest, { decision }: ToolContext): Attributes => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": toolName,
  "gen_ai.tool.type": "function",
  "gen_ai.tool.call.id": toolCallId,
  ...(decision === undefined ? {} : { "rockbot.policy.revision": decision.revision }),
});

function finish(span: Span, status: string, charactersIn: number, charactersOut: number): void {
  // One that is not recorded is kept if it failed.
  if (span.isRecording() || status !== "ok") {
    span.setAttributes({
      "rockbot.tool.status": status,
      "rockbot.tool.characters_in": charactersIn,
      "rockbot.tool.characters_out": charactersOut,
    });
    if (status !== "ok")
      span.setStatus({ code: SpanStatusCode.ERROR, message: status }).setAttribute("error.type", status);
  }
  span.end();
}
