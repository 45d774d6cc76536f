import { metrics } from "@opentelemetry/api";
import type { ToolLayer } from "../tool-executor.ts";

const running = metrics.getMeter("@rockbot/tools").createUpDownCounter("rockbot.tool.running", { description: "Calls that run now, by tool." });

/** Innermost: says that from here on the tool runs, so that a refusal before is told from a failure after. */
export const start: ToolLayer = (next) => ({
  async execute(request, context) {
    context.onStarted?.();
    running.add(1, { tool_name: request.toolName });
    try {
      return await next.execute(request, context);
    } finally {
      running.add(-1, { tool_name: request.toolName });
    }
  },
});
