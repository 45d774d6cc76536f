import { metrics, type UpDownCounter } from "@opentelemetry/api";
import { remembered } from "@rockbot/base";
import type { ToolLayer } from "../define/tool-executor.ts";

/**
 * Made with the first call: what is made before telemetry starts, such as while modules load, records nothing for ever.
 */
let counter: UpDownCounter | undefined;
/** The same frozen labels are found at once by who counts. */
const labelsOf = remembered((toolName) => Object.freeze({ tool_name: toolName }));

/** Innermost: says that from here on the tool runs. So a refusal before differs from a failure after. */
export const start: ToolLayer = (next) => ({
  async execute(request, context) {
    if (context.run !== undefined) await context.run.begins();
    context.onStarted?.();
    counter ??= metrics
      .getMeter("@rockbot/tools")
      .createUpDownCounter("rockbot.tool.running", { description: "Calls that run now, by tool." });
    const running = counter;
    const labels = labelsOf(request.toolName);
    running.add(1, labels);
    try {
      return await next.execute(request, context);
    } finally {
      running.add(-1, labels);
    }
  },
});
